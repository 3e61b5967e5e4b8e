import type { Inclusion } from "@attestd/proof";
import type { SourceChain, SourceChains } from "../chains/chain.ts";
import { hasCode } from "../errors.ts";
import { Problem } from "../problems.ts";
import { unavailable } from "../providers/provider.ts";
import { blockNote } from "./block.ts";
import { blockOf, fits, requireLevel, requireSize, sourceNamed, sourceOf } from "./evidence.ts";
import type { InclusionEvidence, Product } from "./product.ts";
import type { SubjectOf } from "./subject.ts";

/** The proof that a transaction is in a block (InclusionBundle). */
export function inclusionProduct(chains: SourceChains): Product<SubjectOf<"inclusion">, InclusionEvidence> {
  return {
    async evidence(subject, signal) {
      const { chain, id, height } = subject;
      const reader = sourceNamed(chains, chain);
      const block = await reader.block(height, signal).catch(unlessNone);
      const transaction = await block?.find(id, signal);
      if (!block || !transaction) throw await whereItIs(reader, subject, signal);
      // Before the proof, which may cost a thousand requests.
      requireLevel("The block", block.level, reader.required.block);
      const { bytes, inclusion } = await transaction.prove(signal);
      const source = sourceOf({ chain, txnId: id, bytes });
      const members = fitting({ block: blockOf(block), source, inclusion });
      return { kind: "inclusion", chain, caip2: block.caip2, level: block.level, ...members };
    },

    note: blockNote,

    bundle({ block, source, inclusion }, { attest, attestor }) {
      const type = "tx-inclusion";
      return { type, version: 1, network: "algorand-mainnet", block, source, inclusion, attest, attestor };
    },
  };
}

/** The members, without a receipt that makes the bundle too large. @throws Problem source_too_large */
function fitting(members: Pick<InclusionEvidence, "block" | "source" | "inclusion">) {
  if (fits(members)) return members;
  const { receipt: _, ...bare } = members.inclusion as Inclusion & { receipt?: unknown };
  return requireSize({ ...members, inclusion: bare });
}

/** The error for a transaction that is not in the block that was named. @throws SourceError when it is in none */
async function whereItIs(
  reader: SourceChain,
  { id, height }: SubjectOf<"inclusion">,
  signal: AbortSignal,
): Promise<Error> {
  const { height: actual } = await reader.transaction(id, signal);
  if (actual === height) return unavailable(`the nodes do not agree on whether ${id} is in block ${height}`);
  const message = `The transaction is in block ${actual}, not in ${height}.`;
  return new Problem("source_elsewhere", message, { members: { height: actual } });
}

/** @throws unless the chain has not reached the height */
function unlessNone(error: unknown): undefined {
  if (hasCode(error, "block_not_found")) return undefined;
  throw error;
}
