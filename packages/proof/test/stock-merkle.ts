import { verifyMerkleInclusion } from "@sigstore/verify/dist/tlog/merkle.js";
import canonicalize from "canonicalize";
import type { BatchHead, BatchItem } from "../src/batch.ts";

/**
 * Has an item's way to the root of its batch followed by the RFC 9162 verifier of @sigstore/verify, over the canonical JSON of
 * the package canonicalize.
 *
 * @throws its error
 */
export function followByStock(
  { statement, proof }: Pick<BatchItem, "statement" | "proof">,
  { size, root }: Pick<BatchHead, "size" | "root">,
): void {
  const logHash = Buffer.from(root, "base64");
  const hashes = proof.siblings.map((sibling) => Buffer.from(sibling, "base64"));
  verifyMerkleInclusion(
    {
      canonicalizedBody: Buffer.from(canonicalize(statement) as string),
      inclusionProof: { logIndex: String(proof.index), treeSize: String(size), rootHash: logHash, hashes },
    } as never,
    { origin: "", logSize: BigInt(size), logHash, rest: [] } as never,
  );
}
