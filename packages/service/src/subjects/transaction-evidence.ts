import { hash } from "node:crypto";
import { type BundleSource, MAX_BUNDLE_BYTES } from "@attestd/proof";
import { toBase64 } from "@attestd/proof/encoding";
import {
  type ChainName,
  type ConfirmationLevel,
  LEVELS,
  type RequiredLevel,
  type SourceChain,
  type SourceChains,
  type SourceTransaction,
} from "../chains/chain.ts";
import { Problem } from "../lib/problems.ts";
import type { BundleOf, TransactionEvidence } from "./product.ts";
import type { SubjectOf } from "./subject.ts";

/** Room for a bundle's key, signature, note, proof and names. */
const REST_OF_BUNDLE_BYTES = 16 * 1024;

/**
 * Makes the evidence of a transaction that may be attested.
 * @throws Problem when it is not final, does not have the required outcome, or is too large
 */
export function transactionEvidence(
  { required }: Pick<SourceChain, "required">,
  { chain, txnId, bytes, caip2, level, block, succeeded }: SourceTransaction,
  require: SubjectOf<"transaction">["require"],
): TransactionEvidence {
  requireLevel("The transaction", level, required.transaction);
  if (require === "succeeded" && succeeded === false)
    throw new Problem("transaction_failed", `The transaction failed in block ${block.height}.`);
  const { source } = requireSize({ source: sourceOf(chain, txnId, bytes) });
  const outcome = succeeded === undefined ? {} : { succeeded };
  return { kind: "transaction", chain, caip2, level, source, block, ...outcome };
}

/** Returns the open chain with this name. @throws Problem source_wrong_chain when the chain is not configured */
export function sourceNamed(chains: SourceChains, name: ChainName): SourceChain {
  const chain = chains.get(name);
  if (!chain) throw new Problem("source_wrong_chain", `${name} is not configured as a source here.`);
  return chain;
}

/** @param what "The block", "The transaction" @throws Problem source_not_final */
export function requireLevel(what: string, level: ConfirmationLevel, required: RequiredLevel): void {
  if (LEVELS.indexOf(level) >= LEVELS.indexOf(required.level)) return;
  const { retryAfter } = required;
  throw new Problem("source_not_final", `${what} is ${level}; ${required.level} is needed.`, { retryAfter });
}

/** Whether a bundle with these members, which are ASCII, is small enough to be verified here. */
export function fits(members: object): boolean {
  return JSON.stringify(members).length + REST_OF_BUNDLE_BYTES <= MAX_BUNDLE_BYTES;
}

/** Returns the members. @throws Problem source_too_large */
export function requireSize<M extends object>(members: M): M {
  if (fits(members)) return members;
  throw new Problem("source_too_large", `A bundle has at most ${MAX_BUNDLE_BYTES} bytes; this one would have more.`);
}

/** Makes a bundle's member `source`. */
export function sourceOf(chain: ChainName, txnId: string, bytes: Uint8Array): BundleSource & { chain: string } {
  return { chain, txnId, hashSha256: hash("sha256", bytes), txnBytesBase64: toBase64(bytes) };
}

/** Returns a transaction with its block, as a bundle's source. */
export function transactionIn({ chain, caip2, source, block }: Omit<TransactionEvidence, "kind">): BundleOf {
  return { chain, caip2, height: block.height, blockHash: block.hash, txnId: source.txnId };
}
