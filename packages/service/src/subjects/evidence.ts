import { createHash } from "node:crypto";
import { type BundleBlock, type BundleSource, MAX_BUNDLE_BYTES } from "@attestd/proof";
import { toBase64 } from "@attestd/proof/encoding";
import type { ChainName, ConfirmationLevel, SourceBlock } from "../chains/chain.ts";
import { Problem } from "../problems.ts";

/** The level below which what a chain shows is refused as not final. */
export type RequiredLevels = Readonly<Record<ChainName, ConfirmationLevel>>;

const DEPTH: Record<ConfirmationLevel, number> = { included: 0, safe: 1, finalized: 2 };

/** Seconds until what is in a block may have reached a level, on Base; Algorand is final at once. */
const WAIT_SECONDS: Record<ConfirmationLevel, number> = { included: 2, safe: 60, finalized: 300 };

/** More than key, signature, note and names of any bundle. */
const REST_OF_BUNDLE_BYTES = 16 * 1024;

/** @throws Problem source_wrong_chain when the chain is not configured */
export function readerOf<R>(chains: ReadonlyMap<ChainName, R>, chain: ChainName): R {
  const reader = chains.get(chain);
  if (!reader) throw new Problem("source_wrong_chain", `${chain} is not configured as a source here.`);
  return reader;
}

/** @param what "The block", "The transaction" @throws Problem source_not_final */
export function requireLevel(what: string, level: ConfirmationLevel, required: ConfirmationLevel): void {
  if (DEPTH[level] >= DEPTH[required]) return;
  const retryAfter = WAIT_SECONDS[required];
  throw new Problem("source_not_final", `${what} is ${level}; ${required} is needed.`, { retryAfter });
}

/** Whether a bundle with these members, which are ASCII, can be verified here. */
export function fits(members: object): boolean {
  return JSON.stringify(members).length + REST_OF_BUNDLE_BYTES <= MAX_BUNDLE_BYTES;
}

/** Gives the members back. @throws Problem source_too_large */
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
