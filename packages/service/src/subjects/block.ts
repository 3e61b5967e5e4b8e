import { encodeNote, paymentCommitment } from "@attestd/proof/attestor";
import type { ChainName, SourceChain } from "../chains/chain.ts";
import { blockOf, type RequiredLevels, readerOf, requireLevel } from "./evidence.ts";
import type { BlockEvidence, NoteContext, Product } from "./product.ts";
import type { SubjectOf } from "./subject.ts";

/**
 * The attestation of a block (BlockBundle).
 *
 * @param required the level below which a chain's blocks are refused as not final
 */
export function blockProduct(
  chains: ReadonlyMap<ChainName, SourceChain>,
  required: RequiredLevels,
): Product<SubjectOf<"block">, BlockEvidence> {
  return {
    async evidence({ chain, height }, signal) {
      const block = await readerOf(chains, chain).block(height, signal);
      requireLevel("The block", block.level, required[chain]);
      return { kind: "block", chain, caip2: block.caip2, level: block.level, block: blockOf(block) };
    },

    note: blockNote,

    bundle({ block }, { attest, attestor }) {
      return { type: "block-attestation", version: 1, network: "algorand-mainnet", block, attest, attestor };
    },
  };
}

/** The note of a block, which is also that of an inclusion in it: a proof hangs from an anchored header. */
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
