/* Bundles over what a real node recorded: see packages/proof/test/recorded. */

import { encodeMsgpack, type LightHeaderProof, restoreTransaction, splitBlock } from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { type RecordedProof, recordedBlocks, recordedLightHeaders } from "../../../packages/proof/test/recorded.ts";
import type { TestBlock } from "../../../test/bundles/bundles.ts";

/** A block with the proofs that its node gave. @param proofOf by the place of the transaction in the block */
function recorded(answer: string, proofOf: (index: number) => { tree: "txn" | "txn256"; told: RecordedProof }) {
  const { header, headerBytes, transactions: entries } = splitBlock(fromBase64(answer));
  const block: TestBlock = {
    chain: "algorand",
    header: headerBytes,
    transactions: entries.map((entry) => encodeMsgpack(restoreTransaction(entry, header))),
    prove(index) {
      const { tree, told } = proofOf(index);
      const stib = encodeMsgpack(entries[index] as (typeof entries)[number]);
      return { kind: "algorand-merkle", tree, index, stibBase64: toBase64(stib), siblings: digests(told.proof) };
    },
  };
  return block;
}

/** One after the other, as algod joins them. */
function digests(joined: string): string[] {
  const bytes = fromBase64(joined);
  return Array.from({ length: bytes.length / 32 }, (_, at) => toBase64(bytes.subarray(32 * at, 32 * (at + 1))));
}

/** Each with the place of a transaction that the node proved. */
export const recordedInclusions = recordedBlocks.map(({ consensus, block, transactions }) => {
  const tree = consensus === "v33" ? ("txn" as const) : ("txn256" as const);
  const told = transactions.map(({ proofs }) => proofs[tree === "txn" ? "sha512_256" : "sha256"] as RecordedProof);
  const proofOf = (index: number) => ({ tree, told: told.find(({ idx }) => idx === index) as RecordedProof });
  return { consensus, index: told[0]?.idx ?? 0, block: recorded(block, proofOf) };
});

/** Blocks of one transaction, which is their tree, with the way to the commitment of a state proof. */
export const recordedStateProofs = recordedLightHeaders
  .filter(({ block }) => splitBlock(fromBase64(block)).transactions.length === 1)
  .map(({ round, block, lightHeaderProof: { index, proof }, stateProofMessage: { BlockHeadersCommitment } }) => {
    const alone = { tree: "txn256" as const, told: { idx: 0, proof: "", stibhash: "" } };
    const siblings = digests(proof);
    const lightHeader: LightHeaderProof = { index, interval: 256, commitment: BlockHeadersCommitment, siblings };
    return { round, block: recorded(block, () => alone), lightHeader };
  });
