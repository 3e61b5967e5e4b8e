import { concatBytes } from "./encoding.ts";
import { sha256 } from "./sha2.ts";

/* The Merkle tree of RFC 6962 (RFC 9162 section 2.1), by SHA-256. */

/** The hash of a leaf. */
export function leafHash(data: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(0), data));
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(1), left, right));
}

/** A tree that can return every path. */
export type MerkleTree = {
  /** 32 bytes. */
  root: Uint8Array;
  /** The path from the leaf at `index` to the root, 32 bytes each. @throws RangeError if there is no such leaf */
  path(index: number): Uint8Array[];
};

/** Builds the tree over leaf hashes: n - 1 hashes in all, and none per path. */
export function merkleTree(leaves: readonly Uint8Array[]): MerkleTree {
  const rows = [leaves];
  for (let row = leaves; row.length > 1; rows.push(row)) row = rowAbove(row);
  return {
    root: rows.at(-1)?.[0] ?? sha256(new Uint8Array()),
    path(index) {
      if (!Number.isInteger(index) || index < 0 || index >= leaves.length) throw new RangeError(`no leaf ${index}`);
      // The last node of an odd row has no sibling there: it moves up unchanged.
      return rows.flatMap((row, height) => row[Math.floor(index / 2 ** height) ^ 1] ?? []);
    },
  };
}

function rowAbove(row: readonly Uint8Array[]): Uint8Array[] {
  const above: Uint8Array[] = [];
  for (let index = 0; index < row.length; index += 2) {
    const [left, right] = [row[index] as Uint8Array, row[index + 1]];
    above.push(right ? node(left, right) : left);
  }
  return above;
}

/**
 * Returns the root to which a path leads (RFC 9162 section 2.1.3.2); undefined if it has too many or too few hashes.
 */
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
