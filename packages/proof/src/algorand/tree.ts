import { utf8 } from "../encoding.ts";

/* Merkle trees and vector commitments. Source: go-algorand, `crypto/merklearray`. */

export interface TreeRules {
  /** Hashes leaves and nodes. */
  node: (bytes: Uint8Array) => Uint8Array;
  /** The length of a hash in bytes. */
  length: number;
  vectorCommitment: boolean;
}

/** The prefix of a node's two children. */
export const NODE = utf8("MA");
const BOTTOM = utf8("MB");

/** Returns the rows of a tree, from the leaf hashes to the root. */
export function treeLevels(rules: TreeRules, leaves: readonly Uint8Array[]): (readonly Uint8Array[])[] {
  const { node, length, vectorCommitment } = rules;
  // go-algorand hashes a missing right child as zeros. Only a plain tree has one.
  const missing = new Uint8Array(length);
  // One buffer for all nodes: a large tree has many.
  const preimage = new Uint8Array(NODE.length + 2 * length);
  preimage.set(NODE);
  const parent = (left: Uint8Array, right: Uint8Array) => {
    preimage.set(left, NODE.length);
    preimage.set(right, NODE.length + length);
    return node(preimage);
  };
  const levels = [vectorCommitment ? arrangeVector(leaves, node(BOTTOM)) : leaves];
  for (let level = levels[0] ?? []; level.length > 1; levels.push(level)) {
    const above: Uint8Array[] = [];
    for (let place = 0; place < level.length; place += 2)
      above.push(parent(level[place] as Uint8Array, level[place + 1] ?? missing));
    level = above;
  }
  return levels;
}

/** Puts element i at its bit-reversed position, and pads to a power of two with bottom leaves. */
function arrangeVector(leaves: readonly Uint8Array[], bottom: Uint8Array): Uint8Array[] {
  const depth = leaves.length <= 1 ? 0 : 32 - Math.clz32(leaves.length - 1);
  return Array.from({ length: 2 ** depth }, (_, place) => leaves[reverseBits(place, depth)] ?? bottom);
}

/** Reverses the `width` lowest bits of an integer. @param width at most 32 */
export function reverseBits(value: number, width: number): number {
  let reversed = 0;
  for (let bit = 0; bit < width; bit++) reversed |= ((value >>> bit) & 1) << (width - 1 - bit);
  return reversed >>> 0;
}
