import { equalBytes } from "../../encoding.ts";
import { NODE, reverseBits, type TreeRules, treeLevels } from "../tree.ts";
import { SUMHASH_LENGTH, sumhash512 } from "./sumhash.ts";

/*
 * A vector commitment with sumhash512, of which one proof shows several positions. Source: go-algorand,
 * `crypto/merklearray`: merkle.go, partial.go, vectorCommitmentArray.go. Its verifier loops until the hashes run out.
 * This one counts the levels, and does not read a missing hash as zeros: a vector is padded, so no hash is missing.
 */

const RULES: TreeRules = { node: sumhash512, length: SUMHASH_LENGTH, vectorCommitment: true };

export interface VectorProof {
  depth: number;
  /** The siblings that the shown positions do not give, level by level, from left to right; 64 bytes each. */
  path: Uint8Array[];
}

/** Whether the leaf hashes, by position in the vector, lead to the root. @param leaves at least one */
export function verifyVector(leaves: Map<number, Uint8Array>, { depth, path }: VectorProof, root: Uint8Array): boolean {
  if (leaves.size === 0 || [...leaves.keys()].some((place) => place >= 2 ** depth)) return false;
  let level = [...leaves].map(([place, hash]) => ({ place: reverseBits(place, depth), hash }));
  level.sort((a, b) => a.place - b.place);
  const node = new Uint8Array(NODE.length + 2 * SUMHASH_LENGTH);
  node.set(NODE);
  let used = 0;
  for (let height = 0; height < depth; height++) {
    const above: typeof level = [];
    for (let index = 0; index < level.length; index++) {
      const { place, hash } = level[index] as (typeof level)[number];
      const next = level[index + 1];
      const isPair = next !== undefined && next.place === (place ^ 1);
      const sibling = isPair ? next.hash : path[used++];
      if (sibling?.length !== SUMHASH_LENGTH) return false;
      if (isPair) index++;
      node.set(hash, NODE.length + (place % 2) * SUMHASH_LENGTH);
      node.set(sibling, NODE.length + ((place + 1) % 2) * SUMHASH_LENGTH);
      above.push({ place: place >> 1, hash: sumhash512(node) });
    }
    level = above;
  }
  return used === path.length && level.length === 1 && equalBytes((level[0] as (typeof level)[number]).hash, root);
}

/** Returns the root over leaf hashes. @param leaves at least one */
export function vectorRoot(leaves: readonly Uint8Array[]): Uint8Array {
  return treeLevels(RULES, leaves).at(-1)?.[0] as Uint8Array;
}

/** Proves the leaves at these positions for `verifyVector`. @param places in any order, each once */
export function proveVector(leaves: readonly Uint8Array[], places: readonly number[]): VectorProof {
  const levels = treeLevels(RULES, leaves);
  const depth = levels.length - 1;
  const path: Uint8Array[] = [];
  let shown = places.map((place) => reverseBits(place, depth)).sort((a, b) => a - b);
  for (const level of levels.slice(0, -1)) {
    for (const place of shown) if (!shown.includes(place ^ 1)) path.push(level[place ^ 1] as Uint8Array);
    shown = [...new Set(shown.map((place) => place >> 1))];
  }
  return { depth, path };
}
