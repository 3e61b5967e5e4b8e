import { sha256 } from "@noble/hashes/sha2.js";
import { ALGORAND_ID, isAlgorandAddress } from "./algorand/transaction.ts";
import type { ChainFormat } from "./chain-format.ts";
import { CHAINS, chainNamed, type Inclusion, inferChain } from "./chains.ts";
import { toBase64Url, utf8 } from "./encoding.ts";
import { formatError } from "./errors.ts";
import { canonicalBytes } from "./json/canonical.ts";
import { jsonValue, MAX_JSON_BYTES } from "./json/parse.ts";
import { base64, constant, hex32Bytes, integer, isObject, object, type Reader, string } from "./json/readers.ts";
import { MAX_NOTE_BYTES } from "./note.ts";
import { ML_DSA_65_PUBLIC_KEY_LENGTH, ML_DSA_65_SIGNATURE_LENGTH } from "./signature.ts";

export type BundleSource = {
  /** The chain's name. Inferred from `txnId` where absent; never added to what is signed. */
  chain?: string;
  txnId: string;
  /** Lower-case hex SHA-256 of the bytes. */
  hashSha256: string;
  /** The exact bytes whose hash is `txnId`. */
  txnBytesBase64: string;
};

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

export type BundleAttest = {
  /** Id of the attestation transaction. */
  txnId: string;
  /** The ledger's round in which it was confirmed. */
  round: number;
  /** The text of its note field. */
  note: string;
};

export type BundleAttestor = {
  algorandAddress: string;
  /** Raw ML-DSA-65 public key, 1952 bytes, base64. */
  pqPublicKey: string;
};

export type BundleSignature = {
  alg: "ML-DSA-65";
  /** 3309 bytes, base64. */
  sigBase64: string;
};

/** The types of bundle. A transaction's bundle, the oldest, has no member `type`. */
export type BundleType = "transaction-attestation" | "block-attestation" | "tx-inclusion";

/** The members of every bundle. */
type Attested = {
  version: 1;
  network: "algorand-mainnet";
  attest: BundleAttest;
  attestor: BundleAttestor;
  signature: BundleSignature;
};

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

export type Bundle = ProofBundle | BlockBundle | InclusionBundle;

/** The size of the largest bundle that a verifier accepts. */
export const MAX_BUNDLE_BYTES = MAX_JSON_BYTES;

/** The type that a value claims. */
export function bundleType(value: unknown): BundleType {
  const type = isObject(value) ? value.type : undefined;
  return type === "block-attestation" || type === "tx-inclusion" ? type : "transaction-attestation";
}

export type ParseOptions = {
  /** The type that the bundle must have; the one that it claims, unless given. */
  type?: BundleType | undefined;
  /** The source chains that are known; `CHAINS`, unless given. */
  chains?: readonly ChainFormat[] | undefined;
};

/**
 * Reads a bundle: every member present, none other, each in its one spelling. `verify` checks what it states.
 * @param input text or UTF-8, or a value as `parseJson` returns it
 * @throws ProofError `format`; `json` for a text
 */
export function parseBundle(input: unknown, options: ParseOptions = {}): Bundle {
  const value = jsonValue(input);
  const { type = bundleType(value), chains = CHAINS } = options;
  return readBundle(value, type, chains);
}

/** Reads a value as a bundle of this type. @throws ProofError `format` */
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
  }
}

/** The chain of a source. @throws ProofError `format` when there is none, or the id is not one of it */
function sourceChain({ chain: name, txnId }: BundleSource, chains: readonly ChainFormat[]): ChainFormat {
  const chain = name === undefined ? inferChain(txnId, chains) : namedChain(name, "/source/chain", chains);
  if (chain?.transactionId.pattern.test(txnId)) return chain;
  throw formatError("/source/txnId", `must be a transaction id${chain ? ` of ${chain.name}` : ""}`);
}

/** The chain of a block. @throws ProofError `format` when there is none, or the hash is not one of it */
function blockChain({ chain: name, blockHash }: BundleBlock, chains: readonly ChainFormat[]): ChainFormat {
  const chain = namedChain(name, "/block/chain", chains);
  if (chain.blockHash.pattern.test(blockHash)) return chain;
  throw formatError("/block/blockHash", `must be a block hash of ${chain.name}`);
}

function namedChain(text: string, pointer: string, chains: readonly ChainFormat[]): ChainFormat {
  const chain = chainNamed(text, chains);
  if (chain) return chain;
  throw formatError(pointer, `must be one of ${chains.map(({ name }) => name).join(", ")}`);
}

export const algorandAddress = string("an Algorand address", isAlgorandAddress);

const ATTESTED = {
  version: constant(1),
  network: constant("algorand-mainnet"),
  attest: object({
    txnId: string("an Algorand transaction id", ALGORAND_ID.pattern),
    round: integer(1),
    note: string(`text of at most ${MAX_NOTE_BYTES} bytes`, isNoteText),
  }),
  attestor: object({ algorandAddress, pqPublicKey: base64(ML_DSA_65_PUBLIC_KEY_LENGTH) }),
  signature: object({ alg: constant("ML-DSA-65"), sigBase64: base64(ML_DSA_65_SIGNATURE_LENGTH) }),
} satisfies { [Member in keyof Attested]: Reader<Attested[Member]> };

function isNoteText(text: string): boolean {
  return text.isWellFormed() && utf8(text).length <= MAX_NOTE_BYTES;
}

/** The chain decides which texts are ids: `sourceChain` and `blockChain` check them. */
const text = string("a string", () => true);
const source = object({ txnId: text, hashSha256: hex32Bytes, txnBytesBase64: base64() }, { chain: text });
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

type Unsigned<B> = B extends Bundle ? Omit<B, "signature"> : never;
export type UnsignedBundle = Unsigned<Bundle>;

/** The bytes that an attestor signs: RFC 8785 of the bundle, as received, without its signature. */
export function signingBytes(bundle: UnsignedBundle | Bundle): Uint8Array<ArrayBuffer> {
  return canonicalBytes(Object.fromEntries(Object.entries(bundle).filter(([member]) => member !== "signature")));
}

/** A bundle's id, the S of `/bundles/{S}`: base64url SHA-256 of RFC 8785 of the whole bundle. */
export function bundleId(bundle: Bundle): string {
  return toBase64Url(sha256(canonicalBytes(bundle)));
}
