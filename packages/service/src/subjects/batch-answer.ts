/*
 * The form of a batch's answer as it is delivered: the head and each item in canonical JSON, so that parts of the text are
 * found without parsing it. No string in it can hold one of these texts, because JSON escapes quotes.
 */

/** What the answer, and an item with its head, begin with. */
export const BEFORE_HEAD = '{"batch":';
/** What stands between the head and the first item. */
export const BEFORE_ITEMS = ',"items":[';
/** What every item begins with, and nothing else in the answer. */
const ITEM = '{"network":"algorand-mainnet","proof":';

/**
 * The items of an answer as bundles that need no other, in their order.
 *
 * @param answer as a batch's product makes it
 * @returns the canonical JSON of each
 */
export function* itemTexts(answer: string): Generator<string> {
  const headEnd = answer.indexOf(BEFORE_ITEMS);
  const head = answer.slice(BEFORE_HEAD.length, headEnd);
  for (let start = headEnd + BEFORE_ITEMS.length; start < answer.length; ) {
    const next = answer.indexOf(`,${ITEM}`, start);
    const end = next === -1 ? answer.length - "]}".length : next;
    yield withHead(head, answer.slice(start, end));
    if (next === -1) return;
    start = next + 1;
  }
}

/** What verifies of a delivered body: a bundle as it is; of a batch's answer the first item, whose head all items have. */
export function verifiableText(body: string): string {
  return body.startsWith(BEFORE_HEAD) ? (itemTexts(body).next().value ?? "") : body;
}

/** The item at a place of an answer, as a bundle that needs no other. @returns its canonical JSON */
export function itemAt(answer: string, { start, length }: { start: number; length: number }): string {
  const head = answer.slice(BEFORE_HEAD.length, answer.indexOf(BEFORE_ITEMS));
  return withHead(head, answer.slice(start, start + length));
}

/** An item with the head as its member `batch`, as text. */
function withHead(head: string, item: string): string {
  return `${BEFORE_HEAD}${head},${item.slice(1)}`;
}
