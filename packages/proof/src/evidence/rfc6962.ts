import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "../encoding.ts";

/* The Merkle tree of RFC 6962 (RFC 9162 section 2.1), by SHA-256. */

/** The hash of a leaf. */
export function leafHash(data: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(0), data));
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(1), left, right));
}

/** The root over the hashes of leaves. */
export function treeHash(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only === undefined) return sha256(new Uint8Array());
  if (leaves.length === 1) return only;
  const split = splitOf(leaves.length);
  return node(treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

/** The path of the leaf at `index`, which is below the number of leaves, from leaf to root. */
export function inclusionPath(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  if (leaves.length === 1) return [];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  if (index < split) return [...inclusionPath(left, index), treeHash(right)];
  return [...inclusionPath(right, index - split), treeHash(left)];
}

/** The root to which a path leads (RFC 9162 section 2.1.3.2); undefined if it has too many or too few hashes. */
export function rootByPath(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  let root = leaf;
  // By division, not by bits: a tree may have more than 2^31 leaves.
  let [place, last] = [index, size - 1];
  for (const sibling of path) {
    if (last === 0) return undefined;
    if (place % 2 === 1 || place === last) {
      root = node(sibling, root);
      for (; place % 2 === 0 && place !== 0; last = Math.floor(last / 2)) place /= 2;
    } else root = node(root, sibling);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : undefined;
}

/** The largest power of two below a number of leaves. */
function splitOf(count: number): number {
  return 2 ** (31 - Math.clz32(count - 1));
}
