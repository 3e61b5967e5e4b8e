import { createHash } from "node:crypto";
import { type BundleBlock, type BundleSource, MAX_BUNDLE_BYTES } from "@attestd/proof";
import { toBase64 } from "@attestd/proof/encoding";
import type {
  ChainName,
  ConfirmationLevel,
  RequiredLevel,
  SourceBlock,
  SourceChain,
  SourceChains,
} from "../chains/chain.ts";
import { Problem } from "../problems.ts";

const DEPTH: Record<ConfirmationLevel, number> = { included: 0, safe: 1, finalized: 2 };

/** More than the key, signature, note and names of any bundle take. */
const REST_OF_BUNDLE_BYTES = 16 * 1024;

/** The open chain of this name. @throws Problem source_wrong_chain when the chain is not configured */
export function sourceNamed(chains: SourceChains, name: ChainName): SourceChain {
  const chain = chains.get(name);
  if (!chain) throw new Problem("source_wrong_chain", `${name} is not configured as a source here.`);
  return chain;
}

/** @param what "The block", "The transaction" @throws Problem source_not_final */
export function requireLevel(what: string, level: ConfirmationLevel, required: RequiredLevel): void {
  if (DEPTH[level] >= DEPTH[required.level]) return;
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

/** The member `source` of a bundle. */
export function sourceOf({
  chain,
  txnId,
  bytes,
}: {
  chain: ChainName;
  txnId: string;
  bytes: Uint8Array;
}): BundleSource {
  return { chain, txnId, hashSha256: sha256(bytes), txnBytesBase64: toBase64(bytes) };
}

/** The member `block` of a bundle. */
export function blockOf({ chain, height, blockHash, header }: SourceBlock): BundleBlock {
  return { chain, height, blockHash, headerBase64: toBase64(header), hashSha256: sha256(header) };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
