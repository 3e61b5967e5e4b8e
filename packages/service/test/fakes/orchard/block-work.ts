import { ProofError } from "@attestd/proof";
import { equalBytes } from "@attestd/proof/encoding";
import { decodeHeader, depthOf, leafHash, nodeHash } from "./format.ts";

/** @returns the siblings of a leaf, from the leaf to the root. @throws ProofError when they do not lead to the header */
export function findPath(header: Uint8Array, transactions: readonly Uint8Array[], index: number): Uint8Array[] {
  const siblings: Uint8Array[] = [];
  let row = transactions.map(leafHash);
  for (let depth = 0, at = index; depth < depthOf(transactions.length); depth++, at >>= 1) {
    const level = row;
    const leaf = (place: number) => level[place] ?? new Uint8Array(32);
    siblings.push(leaf(at ^ 1));
    row = Array.from({ length: Math.ceil(level.length / 2) }, (_, pair) =>
      nodeHash(leaf(2 * pair), leaf(2 * pair + 1)),
    );
  }
  if (!equalBytes(row[0] ?? header, decodeHeader(header).root))
    throw new ProofError("malformed", "transactions of another block");
  return siblings;
}
