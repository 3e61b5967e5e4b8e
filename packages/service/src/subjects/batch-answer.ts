/*
 * The form of a batch's answer as it is delivered: the head and each item in canonical JSON, which is ASCII. Head and items are
 * kept apart, so that the answer is written piece by piece, and an item is read alone.
 */

/** What the answer, and an item with its head, begin with. */
const BEFORE_HEAD = '{"batch":';
/** What stands between the head and the first item, and behind the last one. */
const BEFORE_ITEMS = ',"items":[';
const END = "]}";

/** Characters that an item with its head has beside both. */
export const BESIDE_ITEM = BEFORE_HEAD.length;

/** What stands before an item in the answer. @param place from 0 */
export function beforeItem(head: string, place: number): string {
  return place === 0 ? `${BEFORE_HEAD}${head}${BEFORE_ITEMS}` : ",";
}

/** What stands behind the last item in the answer. */
export const AFTER_ITEMS = END;

/** Bytes of an answer. @param items the JSON of each */
export function answerBytes(head: string, items: readonly string[]): number {
  const between = beforeItem(head, 0).length + items.length - 1 + END.length;
  return items.reduce((sum, item) => sum + item.length, between);
}

/** An item with the head as its member `batch`: a bundle that needs no other. @returns its canonical JSON */
export function withHead(head: string, item: string): string {
  return `${BEFORE_HEAD}${head},${item.slice(1)}`;
}

/** The text of which an item's id is the hash, without the item's own part, which is `item.slice(1)`. */
export function beforeIdOf(head: string): string {
  return `${BEFORE_HEAD}${head},`;
}
