/*
 * The form of a batch's delivered answer: the head and each item in canonical JSON, which is ASCII. Head and items are
 * stored apart, so that the answer can be written piece by piece, and an item read alone.
 */

/** The beginning of the answer, and of an item with its head. */
const BEFORE_HEAD = '{"batch":';
/** The text between the head and the first item, and after the last one. */
const BEFORE_ITEMS = ',"items":[';
const END = "]}";

/** The number of characters in an item with its head besides the two. */
export const ITEM_OVERHEAD = BEFORE_HEAD.length;

/** Returns the text before an item in the answer. @param place from 0 */
export function beforeItem(head: string, place: number): string {
  return place === 0 ? `${BEFORE_HEAD}${head}${BEFORE_ITEMS}` : ",";
}

/** The text after the last item in the answer. */
export const AFTER_ITEMS = END;

/** Returns the bytes of an answer. @param items the JSON of each */
export function answerBytes(head: string, items: readonly string[]): number {
  const between = beforeItem(head, 0).length + items.length - 1 + END.length;
  return items.reduce((sum, item) => sum + item.length, between);
}

/** Adds the head as an item's member `batch`, which makes a bundle that needs no other. @returns its canonical JSON */
export function withHead(head: string, item: string): string {
  return `${BEFORE_HEAD}${head},${item.slice(1)}`;
}

/** Returns the beginning of the text whose hash is an item's id; the item's own part, `item.slice(1)`, follows. */
export function beforeIdOf(head: string): string {
  return `${BEFORE_HEAD}${head},`;
}
