import { type BatchHead, type BatchItem, checkBatchItem, readBatchItem } from "./batch.ts";
import { ATTESTED, type Attested, type BundleSource, namedChain, SOURCE, sourceChain, text } from "./bundle-members.ts";
import type { ChainFormat } from "./chain-format.ts";
import { CHAINS, type Inclusion } from "./chains.ts";
import { toBase64Url } from "./encoding.ts";
import { attempt, formatError } from "./errors.ts";
import { canonicalBytes } from "./json/canonical.ts";
import { jsonValue, MAX_JSON_BYTES } from "./json/parse.ts";
import { base64, constant, hex32Bytes, integer, isObject, object, type Reader } from "./json/readers.ts";
import { type Note, parseNote } from "./note.ts";
import { sha256 } from "./sha2.ts";

/** A block, by its header. */
export type BundleBlock = {
  /** The chain's name. */
  chain: string;
  height: number;
  blockHash: string;
  /** The exact bytes whose hash is `blockHash`. */
  headerBase64: string;
  /** Lower-case hex SHA-256 of the header's bytes. */
  hashSha256: string;
};

/** The types of bundle. A transaction's bundle, the oldest, has no member `type`. */
export type BundleType = "transaction-attestation" | "block-attestation" | "tx-inclusion" | "batch-item";

/** The attestation of a transaction. */
export type ProofBundle = Attested & { source: BundleSource };

/** The attestation of a block. */
export type BlockBundle = Attested & { type: "block-attestation"; block: BundleBlock };

/** A proof that a transaction is in an attested block. */
export type InclusionBundle = Attested & {
  type: "tx-inclusion";
  block: BundleBlock;
  source: BundleSource;
  inclusion: Inclusion;
};

export type Bundle = ProofBundle | BlockBundle | InclusionBundle | BatchItem;

/** The objects that an attestor signs. */
export type SignedBundle = Exclude<Bundle, BatchItem> | BatchHead;

/**
 * Returns the part of a bundle that the attestor signed and recorded: the head for a batch item, else the whole bundle.
 */
export function signedPart(bundle: Bundle | BatchHead): SignedBundle {
  return "batch" in bundle ? bundle.batch : bundle;
}

/** Returns a bundle's parsed note; undefined if it is malformed. */
export function noteOf(bundle: Bundle | BatchHead): Note | undefined {
  return attempt("format", () => parseNote(signedPart(bundle).attest.note));
}

/** The size of the largest bundle that a verifier accepts. */
export const MAX_BUNDLE_BYTES = MAX_JSON_BYTES;

/** Returns the type that a value claims. */
export function bundleType(value: unknown): BundleType {
  const type = isObject(value) ? value.type : undefined;
  const isNamed = type === "block-attestation" || type === "tx-inclusion" || type === "batch-item";
  return isNamed ? type : "transaction-attestation";
}

/**
 * Reads a bundle: every member present, no other, each in its one spelling. `verify` checks its statements.
 * @param input text or UTF-8, or a value as `parseJson` returns it
 * @param options.chains the known source chains
 * @throws ProofError `format`; `json` for a text
 */
export function parseBundle(input: unknown, { chains = CHAINS }: { chains?: readonly ChainFormat[] } = {}): Bundle {
  const value = jsonValue(input);
  return readBundle(value, bundleType(value), chains);
}

/** Reads a value as a bundle of a given type. @throws ProofError `format` */
export function readBundle(value: unknown, type: BundleType, chains: readonly ChainFormat[]): Bundle {
  switch (type) {
    case "transaction-attestation": {
      const bundle = readProofBundle(value, "");
      sourceChain(bundle.source, chains);
      return bundle;
    }
    case "block-attestation": {
      const bundle = readBlockBundle(value, "");
      blockChain(bundle.block, chains);
      return bundle;
    }
    case "tx-inclusion": {
      const bundle = readInclusionBundle(value, "");
      const chain = blockChain(bundle.block, chains);
      if (sourceChain(bundle.source, chains) !== chain)
        throw formatError("/source", `must be of ${chain.name}, as the block is`);
      return { ...bundle, inclusion: chain.readInclusion(bundle.inclusion, "/inclusion") as Inclusion };
    }
    case "batch-item": {
      const item = readBatchItem(value, "");
      checkBatchItem(item, chains);
      return item;
    }
  }
}

/**
 * Returns the chain of a block. @throws ProofError `format` for an unknown chain, or a hash that is not in its format
 */
function blockChain({ chain: name, blockHash }: BundleBlock, chains: readonly ChainFormat[]): ChainFormat {
  const chain = namedChain(name, "/block/chain", chains);
  if (chain.blockHash.pattern.test(blockHash)) return chain;
  throw formatError("/block/blockHash", `must be a block hash of ${chain.name}`);
}

const source = object(SOURCE, { chain: text });
const block = object({
  chain: text,
  height: integer(0),
  blockHash: text,
  headerBase64: base64(),
  hashSha256: hex32Bytes,
});
const inclusion: Reader<unknown> = (value) => value;

const readProofBundle = object({ ...ATTESTED, source });
const readBlockBundle = object({ type: constant("block-attestation"), ...ATTESTED, block });
const readInclusionBundle = object({ type: constant("tx-inclusion"), ...ATTESTED, block, source, inclusion });

type Unsigned<B> = B extends SignedBundle ? Omit<B, "signature"> : never;
export type UnsignedBundle = Unsigned<SignedBundle>;

/** Returns the bytes that an attestor signs: RFC 8785 of the bundle, as received, without its signature. */
export function signingBytes(bundle: UnsignedBundle | SignedBundle): Uint8Array<ArrayBuffer> {
  return canonicalBytes(Object.fromEntries(Object.entries(bundle).filter(([member]) => member !== "signature")));
}

/** Returns a bundle's id, the S of `/bundles/{S}`: base64url SHA-256 of RFC 8785 of the whole bundle or batch head. */
export function bundleId(bundle: Bundle | BatchHead): string {
  return toBase64Url(sha256(canonicalBytes(bundle)));
}
