import { sha256 } from "@noble/hashes/sha2.js";
import { isAlgorandAddress, isAlgorandTxId } from "./algorand/transaction.ts";
import type {
  BlockBundle,
  Bundle,
  BundleAttest,
  BundleAttestor,
  BundleBlock,
  BundleSignature,
  BundleSource,
  BundleType,
  InclusionBundle,
  ProofBundle,
} from "./bundle-types.ts";
import type { ChainFormat } from "./chain-format.ts";
import { CHAINS, chainNamed, chainOf, type Inclusion, inferChain } from "./chains.ts";
import { toBase64Url, utf8 } from "./encoding.ts";
import { formatError } from "./errors.ts";
import { canonicalBytes } from "./json/canonical.ts";
import { HEX_32_BYTES, readBase64, readConstant, readInteger, readMembers, readString } from "./json/members.ts";
import { jsonValue, MAX_JSON_BYTES } from "./json/parse.ts";
import { MAX_NOTE_BYTES } from "./note.ts";
import { ML_DSA_65_PUBLIC_KEY_LENGTH, ML_DSA_65_SIGNATURE_LENGTH } from "./signature.ts";

export type * from "./bundle-types.ts";

/** The size of the largest bundle that a verifier takes. */
export const MAX_BUNDLE_BYTES = MAX_JSON_BYTES;

/** The type that a value claims, by its member `type`, which a ProofBundle does not have. */
export function bundleType(value: unknown): BundleType {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return type === "block-attestation" || type === "tx-inclusion" ? type : "transaction-attestation";
}

export type ParseOptions = {
  /** The type that the bundle must have; the one that it claims, unless given. */
  type?: BundleType | undefined;
  /** The source chains that are known; `CHAINS`, unless given. */
  chains?: readonly ChainFormat[] | undefined;
};

/**
 * Reads a bundle: every member present, none other, each in its one spelling. Whether its statements are
 * true is for `verify`.
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
    case "transaction-attestation":
      return readProofBundle(value, chains);
    case "block-attestation":
      return readBlockBundle(value, chains);
    case "tx-inclusion":
      return readInclusionBundle(value, chains);
  }
}

function readProofBundle(value: unknown, chains: readonly ChainFormat[]): ProofBundle {
  const members = readMembers(value, "", ["version", "network", "source", "attest", "attestor", "signature"]);
  return { ...readVersion(members), source: readSource(members.source, chains), ...readAttestation(members) };
}

function readBlockBundle(value: unknown, chains: readonly ChainFormat[]): BlockBundle {
  const members = readMembers(value, "", ["type", "version", "network", "block", "attest", "attestor", "signature"]);
  return {
    type: readConstant(members.type, "/type", "block-attestation"),
    ...readVersion(members),
    block: readBlock(members.block, chains),
    ...readAttestation(members),
  };
}

function readInclusionBundle(value: unknown, chains: readonly ChainFormat[]): InclusionBundle {
  const members = readMembers(value, "", [
    "type",
    "version",
    "network",
    "block",
    "source",
    "inclusion",
    "attest",
    "attestor",
    "signature",
  ]);
  const block = readBlock(members.block, chains);
  const source = readSource(members.source, chains);
  const chain = chainOf({ block }, chains);
  if (chainOf({ source }, chains) !== chain) throw formatError("/source", `must be of ${chain.name}, as the block is`);
  return {
    type: readConstant(members.type, "/type", "tx-inclusion"),
    ...readVersion(members),
    block,
    source,
    inclusion: chain.readInclusion(members.inclusion, "/inclusion") as Inclusion,
    ...readAttestation(members),
  };
}

function readVersion(members: { version: unknown; network: unknown }): Pick<ProofBundle, "version" | "network"> {
  return {
    version: readConstant(members.version, "/version", 1),
    network: readConstant(members.network, "/network", "algorand-mainnet"),
  };
}

type Attestation = Pick<ProofBundle, "attest" | "attestor" | "signature">;

function readAttestation(members: Record<keyof Attestation, unknown>): Attestation {
  return {
    attest: readAttest(members.attest),
    attestor: readAttestor(members.attestor),
    signature: readSignature(members.signature),
  };
}

function readBlock(value: unknown, chains: readonly ChainFormat[]): BundleBlock {
  const members = readMembers(value, "/block", ["chain", "height", "blockHash", "headerBase64", "hashSha256"]);
  const { name, blockHash } = readChain(members.chain, "/block/chain", chains);
  return {
    chain: name,
    height: readInteger(members.height, "/block/height", 0),
    blockHash: readString(members.blockHash, "/block/blockHash", `a block hash of ${name}`, blockHash.pattern),
    headerBase64: readBase64(members.headerBase64, "/block/headerBase64"),
    hashSha256: readString(members.hashSha256, "/block/hashSha256", "lower-case hex of 32 bytes", HEX_32_BYTES),
  };
}

function readSource(value: unknown, chains: readonly ChainFormat[]): BundleSource {
  const members = readMembers(value, "/source", ["txnId", "hashSha256", "txnBytesBase64"], ["chain"]);
  const named = Object.hasOwn(members, "chain") ? readChain(members.chain, "/source/chain", chains) : undefined;
  return {
    ...(named && { chain: named.name }),
    txnId: readString(
      members.txnId,
      "/source/txnId",
      `a transaction id${named ? ` of ${named.name}` : ""}`,
      named?.transactionId.pattern ?? ((id) => inferChain(id, chains) !== undefined),
    ),
    hashSha256: readString(members.hashSha256, "/source/hashSha256", "lower-case hex of 32 bytes", HEX_32_BYTES),
    txnBytesBase64: readBase64(members.txnBytesBase64, "/source/txnBytesBase64"),
  };
}

function readChain(value: unknown, pointer: string, chains: readonly ChainFormat[]): ChainFormat {
  const names = chains.map(({ name }) => name).join(", ");
  const name = readString(value, pointer, `one of ${names}`, (text) => chainNamed(text, chains) !== undefined);
  return chainNamed(name, chains) as ChainFormat;
}

function readAttest(value: unknown): BundleAttest {
  const { txnId, round, note } = readMembers(value, "/attest", ["txnId", "round", "note"]);
  return {
    txnId: readString(txnId, "/attest/txnId", "an Algorand transaction id", isAlgorandTxId),
    round: readInteger(round, "/attest/round", 1),
    note: readString(note, "/attest/note", `text of at most ${MAX_NOTE_BYTES} bytes`, isNoteText),
  };
}

function isNoteText(text: string): boolean {
  return text.isWellFormed() && utf8(text).length <= MAX_NOTE_BYTES;
}

function readAttestor(value: unknown): BundleAttestor {
  const { algorandAddress, pqPublicKey } = readMembers(value, "/attestor", ["algorandAddress", "pqPublicKey"]);
  return {
    algorandAddress: readAddress(algorandAddress, "/attestor/algorandAddress"),
    pqPublicKey: readBase64(pqPublicKey, "/attestor/pqPublicKey", ML_DSA_65_PUBLIC_KEY_LENGTH),
  };
}

/** An Algorand address. @throws ProofError `format` */
export function readAddress(value: unknown, pointer: string): string {
  return readString(value, pointer, "an Algorand address", isAlgorandAddress);
}

function readSignature(value: unknown): BundleSignature {
  const { alg, sigBase64 } = readMembers(value, "/signature", ["alg", "sigBase64"]);
  return {
    alg: readConstant(alg, "/signature/alg", "ML-DSA-65"),
    sigBase64: readBase64(sigBase64, "/signature/sigBase64", ML_DSA_65_SIGNATURE_LENGTH),
  };
}

/** A bundle of any kind before it is signed. */
export type UnsignedBundle =
  | Omit<ProofBundle, "signature">
  | Omit<BlockBundle, "signature">
  | Omit<InclusionBundle, "signature">;

/** The bytes that an attestor signs: RFC 8785 of the bundle, as received, without its signature. */
export function signingBytes(bundle: UnsignedBundle | Bundle): Uint8Array<ArrayBuffer> {
  return canonicalBytes(Object.fromEntries(Object.entries(bundle).filter(([member]) => member !== "signature")));
}

/** A bundle's own id S: base64url SHA-256 of RFC 8785 of the whole bundle, signature included. */
export function bundleId(bundle: Bundle): string {
  return toBase64Url(sha256(canonicalBytes(bundle)));
}
