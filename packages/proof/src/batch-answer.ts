import {
  type BatchAnswerItem,
  type BatchHead,
  type BatchItem,
  checkBatchItem,
  MAX_BATCH_ITEMS,
  readBatchAnswerItem,
  readBatchHead,
} from "./batch.ts";
import type { ChainFormat } from "./chain-format.ts";
import { CHAINS } from "./chains.ts";
import { formatError } from "./errors.ts";
import { canonicalize } from "./json/canonical.ts";
import { childPointer, jsonValue } from "./json/parse.ts";
import { list, object } from "./json/readers.ts";

/** The delivered form of a batch: the head once, and the items in order. */
export type BatchAnswer = { batch: BatchHead; items: BatchAnswerItem[] };

/** The size limit of an answer, in bytes. */
export const MAX_BATCH_BYTES = 16 * 2 ** 20;
/** An item has at most 46 JSON members and array items, its own place in the list included. */
const MAX_BATCH_MEMBERS = 64 * MAX_BATCH_ITEMS;

const readMembers = object({ batch: readBatchHead, items: list(MAX_BATCH_ITEMS, readBatchAnswerItem) });

/**
 * Reads the answer of a batch: as many items as its head says, in order. It verifies nothing: `verify` each of its
 * `itemBundles`.
 * @param input text or UTF-8 of at most `MAX_BATCH_BYTES`, or a value as `parseJson` returns it
 * @throws ProofError `format`; `json` for a text
 */
export function parseBatch(input: unknown, { chains = CHAINS }: { chains?: readonly ChainFormat[] } = {}): BatchAnswer {
  const value = jsonValue(input, { maxSize: MAX_BATCH_BYTES, maxMembers: MAX_BATCH_MEMBERS });
  const answer = readMembers(value, "");
  const { batch, items } = answer;
  if (items.length !== batch.size) throw formatError("/items", `must be ${batch.size}, as the batch's size says`);
  items.forEach((item, index) => {
    const pointer = childPointer("/items", index);
    if (item.proof.index !== index) throw formatError(`${pointer}/proof/index`, `must be ${index}, its place`);
    checkBatchItem(item, chains, pointer);
  });
  return answer;
}

/** Returns the items of an answer as bundles that can be verified on their own. */
export function itemBundles({ batch, items }: BatchAnswer): BatchItem[] {
  return items.map((item) => ({ ...item, batch }));
}

/**
 * Returns the batch answer with these items. It reverses `itemBundles`.
 * @param bundles every item of one batch once, in any order
 * @throws ProofError `format` when one is missing, repeated, or from another batch
 */
export function batchOf(bundles: readonly BatchItem[]): BatchAnswer {
  const sorted = bundles.toSorted((a, b) => a.proof.index - b.proof.index);
  const [first] = sorted;
  if (first === undefined) throw formatError("/items", "must have items");
  const { batch } = first;
  const head = canonicalize(batch);
  if (sorted.some((other) => other.batch !== batch && canonicalize(other.batch) !== head))
    throw formatError("/batch", "must be the same in every item");
  const items = sorted.map(({ batch: _, ...item }) => item);
  const wrong = items.findIndex(({ proof }, index) => proof.index !== index);
  if (wrong !== -1 || items.length !== batch.size)
    throw formatError(
      "/items",
      `must be each of the ${batch.size} once, and ${wrong === -1 ? items.length : wrong} is not`,
    );
  return { batch, items };
}
