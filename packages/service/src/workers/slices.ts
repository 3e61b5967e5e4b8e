import { setImmediate as nextTurn } from "node:timers/promises";

/** The number of items after which other work gets its turn: a few milliseconds of hashes and JSON. */
const MAX_IN_A_SLICE = 50;

/**
 * Maps a long list in slices, so that the event loop is not blocked.
 * @param map takes a fraction of a millisecond
 */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const mapped: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % MAX_IN_A_SLICE === 0) await nextTurn();
    mapped.push(map(item, index));
  }
  return mapped;
}
