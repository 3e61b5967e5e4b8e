// A batch: many transactions under one head, which is what the key signed.
import { createHash } from "node:crypto";
import { chainOf } from "./form.mjs";
import { canonical } from "./json.mjs";

const hash = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();

/** The root to which siblings lead from a leaf (RFC 9162 section 2.1.3.2); undefined if they are too many or too few. */
export function rootOf(leaf, index, size, siblings) {
  let root = hash(Buffer.from([0]), leaf);
  let [place, last] = [BigInt(index), BigInt(size - 1)];
  for (const text of siblings) {
    const sibling = Buffer.from(text, "base64");
    if (last === 0n) return undefined;
    const isRight = (place & 1n) === 1n || place === last;
    root = hash(Buffer.from([1]), ...(isRight ? [sibling, root] : [root, sibling]));
    while (isRight && (place & 1n) === 0n && place !== 0n) [place, last] = [place >> 1n, last >> 1n];
    [place, last] = [place >> 1n, last >> 1n];
  }
  return last === 0n ? root : undefined;
}

/** Whether an item's statement is a leaf of its batch. */
export function isInBatch({ statement, proof: { index, siblings }, batch: { size, root } }) {
  const found = index < size ? rootOf(canonical(statement), index, size, siblings) : undefined;
  return found?.toString("base64") === root;
}

/** The items of the answer of a batch, each with its head; undefined where it is none. */
export function itemsOf({ batch, items, ...others }) {
  const isAnswer = Array.isArray(items) && batch?.size === items.length && Object.keys(others).length === 0;
  const bundles = isAnswer ? items.map((item) => ({ ...item, batch })) : [];
  const isItem = (bundle, index) => !("batch" in items[index]) && bundle.proof?.index === index && chainOf(bundle);
  return isAnswer && bundles.length > 0 && bundles.every(isItem) ? bundles : undefined;
}
