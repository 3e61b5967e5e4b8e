import { sha256 } from "@noble/hashes/sha2.js";
import { ALGORAND_ID, isAlgorandAddress } from "./algorand/transaction.ts";
import type { ChainFormat } from "./chain-format.ts";
import { CHAINS, chainNamed, chainOf, type Inclusion, inferChain } from "./chains.ts";
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
  const source = sourceReader(chains);
  const block = blockReader(chains);
  switch (type) {
    case "transaction-attestation":
      return object({ ...ATTESTED, source })(value, "");
    case "block-attestation":
      return object({ type: constant(type), ...ATTESTED, block })(value, "");
    case "tx-inclusion": {
      const inclusion: Reader<unknown> = (stated) => stated;
      const bundle = object({ type: constant(type), ...ATTESTED, block, source, inclusion })(value, "");
      const chain = chainOf({ block: bundle.block }, chains);
      if (chainOf({ source: bundle.source }, chains) !== chain)
        throw formatError("/source", `must be of ${chain.name}, as the block is`);
      return { ...bundle, inclusion: chain.readInclusion(bundle.inclusion, "/inclusion") as Inclusion };
    }
  }
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

function blockReader(chains: readonly ChainFormat[]): Reader<BundleBlock> {
  return (value, pointer) => {
    const chain = namedChain(value, pointer, chains);
    return object({
      chain: chainReader(chains),
      height: integer(0),
      blockHash: string(`a block hash of ${chain?.name}`, chain?.blockHash.pattern ?? (() => false)),
      headerBase64: base64(),
      hashSha256: hex32Bytes,
    })(value, pointer);
  };
}

function sourceReader(chains: readonly ChainFormat[]): Reader<BundleSource> {
  return (value, pointer) => {
    const chain = namedChain(value, pointer, chains);
    const txnId = chain
      ? string(`a transaction id of ${chain.name}`, chain.transactionId.pattern)
      : string("a transaction id", (id) => inferChain(id, chains) !== undefined);
    const required = { txnId, hashSha256: hex32Bytes, txnBytesBase64: base64() };
    return object(required, { chain: chainReader(chains) })(value, pointer);
  };
}

function chainReader(chains: readonly ChainFormat[]): Reader<string> {
  const names = chains.map(({ name }) => name);
  return string(`one of ${names.join(", ")}`, (text) => names.includes(text));
}

/** The chain that the member `chain` names, whose form the ids beside it have; undefined where there is no such member. */
function namedChain(value: unknown, pointer: string, chains: readonly ChainFormat[]): ChainFormat | undefined {
  if (!isObject(value) || !Object.hasOwn(value, "chain")) return undefined;
  return chainNamed(chainReader(chains)(value.chain, `${pointer}/chain`), chains);
}

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
