import { hash, randomBytes } from "node:crypto";
import type { BundleBlock, Inclusion } from "@attestd/proof";
import { encodeNote, paymentCommitment } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import type { SourceBlock, SourceChain, SourceChains } from "../chains/chain.ts";
import { systemClock } from "../lib/clock.ts";
import { hasCode, ignoring } from "../lib/errors.ts";
import { Problem } from "../lib/problems.ts";
import { unavailable } from "../providers/provider.ts";
import { batchProduct } from "./batch.ts";
import { type BatchClock, createBatchReader } from "./batch-reader.ts";
import type {
  BlockEvidence,
  BundleOf,
  InclusionEvidence,
  NoteContext,
  Product,
  Products,
  TransactionEvidence,
} from "./product.ts";
import type { SubjectOf } from "./subject.ts";
import {
  fits,
  requireLevel,
  requireSize,
  sourceNamed,
  sourceOf,
  transactionEvidence,
  transactionIn,
} from "./transaction-evidence.ts";

/** Members of every bundle. */
const LEDGER = { version: 1, network: "algorand-mainnet" } as const;

/** Makes all products. @param random for the nonces of batches; default: the operating system's */
export function createProducts(
  chains: SourceChains,
  { clock = systemClock, random = randomBytes }: { clock?: BatchClock; random?: (bytes: number) => Uint8Array } = {},
): Products {
  return {
    transaction: transactionProduct(chains),
    block: blockProduct(chains),
    inclusion: inclusionProduct(chains),
    batch: batchProduct(chains, createBatchReader(chains, clock), random),
  };
}

/** The attestation of a transaction (ProofBundle). */
function transactionProduct(chains: SourceChains): Product<SubjectOf<"transaction">, TransactionEvidence> {
  return {
    async evidence({ chain, id, require }, signal) {
      const reader = sourceNamed(chains, chain);
      return transactionEvidence(reader, await reader.transaction(id, signal), require);
    },

    note({ source, block, succeeded, ...evidence }, context) {
      const common = { ...commonMembers(evidence, context), h: source.hashSha256, t: source.txnId };
      const outcome = succeeded === undefined ? {} : ({ s: succeeded ? 1 : 0 } as const);
      return encodeNote({ ...common, b: block.hash, n: block.height, u: block.time, ...outcome });
    },

    bundle: ({ source }, attested) => ({ ...LEDGER, source, ...attested }),

    sources: (evidence) => [transactionIn(evidence)],
  };
}

/** The attestation of a block (BlockBundle). */
function blockProduct(chains: SourceChains): Product<SubjectOf<"block">, BlockEvidence> {
  return {
    async evidence({ chain, height }, signal) {
      const reader = sourceNamed(chains, chain);
      const block = await reader.block(height, signal);
      requireLevel("The block", block.level, reader.required.block);
      return { kind: "block", chain, caip2: block.caip2, level: block.level, block: blockOf(block) };
    },

    note: blockNote,

    bundle: ({ block }, attested) => ({ type: "block-attestation", ...LEDGER, block, ...attested }),

    sources: blockSources,
  };
}

/** The proof that a transaction is in a block (InclusionBundle). */
function inclusionProduct(chains: SourceChains): Product<SubjectOf<"inclusion">, InclusionEvidence> {
  return {
    async evidence(subject, signal) {
      const { chain, id, height } = subject;
      const reader = sourceNamed(chains, chain);
      const block = await reader.block(height, signal).catch(ignoring((error) => hasCode(error, "block_not_found")));
      const transaction = await block?.find(id, signal);
      if (!block || !transaction) throw await whereItIs(reader, subject, signal);
      // Before the proof, which may cost a thousand requests.
      requireLevel("The block", block.level, reader.required.block);
      const { bytes, inclusion } = await transaction.prove(signal);
      const members = { block: blockOf(block), source: sourceOf(chain, id, bytes), inclusion };
      return { kind: "inclusion", chain, caip2: block.caip2, level: block.level, ...fitting(members) };
    },

    note: blockNote,

    bundle({ block, source, inclusion }, attested) {
      return { type: "tx-inclusion", ...LEDGER, block, source, inclusion, ...attested };
    },

    sources: blockSources,
  };
}

/** Makes the note of a block, also for an inclusion in it: the proof leads to the recorded header. */
function blockNote({ block, ...evidence }: BlockEvidence | InclusionEvidence, context: NoteContext): string {
  const { blockHash, hashSha256, height } = block;
  return encodeNote({ ...commonMembers(evidence, context), b: blockHash, h: hashSha256, n: height });
}

function blockSources({ chain, caip2, block }: BlockEvidence | InclusionEvidence): BundleOf[] {
  const { height, blockHash } = block;
  return [{ chain, caip2, height, blockHash }];
}

/** The members that every note has. */
function commonMembers(
  { caip2, level }: Pick<TransactionEvidence, "caip2" | "level">,
  { keySha256, ledger, paymentKey }: NoteContext,
) {
  return { a: keySha256, c: caip2, g: ledger, l: level, p: paymentCommitment(paymentKey) };
}

/** Drops a receipt that would make the bundle too large. @throws Problem source_too_large */
function fitting(members: Pick<InclusionEvidence, "block" | "source" | "inclusion">) {
  if (fits(members)) return members;
  const { receipt: _, ...bare } = members.inclusion as Inclusion & { receipt?: unknown };
  return requireSize({ ...members, inclusion: bare });
}

/** Returns the error for a transaction that is not in the named block. @throws SourceError when it is in none */
async function whereItIs(
  reader: SourceChain,
  { id, height }: SubjectOf<"inclusion">,
  signal: AbortSignal,
): Promise<Error> {
  const { height: actual } = (await reader.transaction(id, signal)).block;
  if (actual === height) return unavailable(`the nodes do not agree on whether ${id} is in block ${height}`);
  const message = `The transaction is in block ${actual}, not in ${height}.`;
  return new Problem("source_elsewhere", message, { members: { height: actual } });
}

/** Makes a bundle's member `block`. */
function blockOf({ chain, height, blockHash, header }: SourceBlock): BundleBlock {
  return { chain, height, blockHash, headerBase64: toBase64(header), hashSha256: hash("sha256", header) };
}
