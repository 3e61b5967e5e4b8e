import { encodeNote, paymentCommitment } from "@attestd/proof/attestor";
import type { SourceChains } from "../chains/chain.ts";
import { blockOf, requireLevel, sourceNamed } from "./evidence.ts";
import type { BlockEvidence, NoteContext, Product } from "./product.ts";
import type { SubjectOf } from "./subject.ts";

/** The attestation of a block (BlockBundle). */
export function blockProduct(chains: SourceChains): Product<SubjectOf<"block">, BlockEvidence> {
  return {
    async evidence({ chain, height }, signal) {
      const source = sourceNamed(chains, chain);
      const block = await source.block(height, signal);
      requireLevel("The block", block.level, source.required.block);
      return { kind: "block", chain, caip2: block.caip2, level: block.level, block: blockOf(block) };
    },

    note: blockNote,

    bundle({ block }, { attest, attestor }) {
      return { type: "block-attestation", version: 1, network: "algorand-mainnet", block, attest, attestor };
    },
  };
}

/** The note of a block, and of an inclusion in it: a proof leads to a header that is recorded. */
export function blockNote(
  { caip2, level, block }: Pick<BlockEvidence, "caip2" | "level" | "block">,
  { keySha256, ledger, paymentKey }: NoteContext,
): string {
  return encodeNote({
    a: keySha256,
    b: block.blockHash,
    c: caip2,
    g: ledger,
    h: block.hashSha256,
    l: level,
    n: block.height,
    p: paymentCommitment(paymentKey),
  });
}
