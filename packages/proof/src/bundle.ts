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
import { canonicalBytes } from "./canonical.ts";
import { CHAINS, inferChain, type SourceChain } from "./chains.ts";
import { toBase64Url, utf8 } from "./encoding.ts";
import { FormatError, HEX_32_BYTES, readBase64, readConstant, readInteger, readMembers, readString } from "./format.ts";
import { jsonValue } from "./json.ts";
import { MAX_NOTE_LENGTH } from "./note.ts";
import { ML_DSA_65_PUBLIC_KEY_LENGTH, ML_DSA_65_SIGNATURE_LENGTH } from "./signature.ts";

export type * from "./bundle-types.ts";

/** The kind that a value claims to be: by its `type`, which a ProofBundle does not have. */
export function bundleType(value: unknown): BundleType {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return type === "block-attestation" || type === "tx-inclusion" ? type : "transaction-attestation";
}

/**
 * Reads a bundle of any kind: every member present, none other, each in its one spelling. Whether what it says is true
 * is for `verify`.
 * @param input text or UTF-8, or a value as `parseJson` gives it
 * @param type the type that it must have; the one that it claims, unless given
 * @throws FormatError; JsonError for a text
 */
export function parseBundle(input: unknown, type?: BundleType): Bundle {
  const value = jsonValue(input);
  return readBundle(value, type ?? bundleType(value));
}

/** A bundle of this type. @param value as `parseJson` gives it @throws FormatError */
export function readBundle(value: unknown, type: BundleType): Bundle {
  switch (type) {
    case "transaction-attestation":
      return parseProofBundle(value);
    case "block-attestation":
      return parseBlockBundle(value);
    case "tx-inclusion":
      return parseInclusionBundle(value);
  }
}

/** Reads a ProofBundle as `parseBundle` does. @throws FormatError */
export function parseProofBundle(value: unknown): ProofBundle {
  const members = readMembers(value, "", ["version", "network", "source", "attest", "attestor", "signature"]);
  return { ...readVersion(members), source: readSource(members.source), ...readAttestation(members) };
}

/** Reads a BlockBundle as `parseBundle` does. @throws FormatError */
export function parseBlockBundle(value: unknown): BlockBundle {
  const members = readMembers(value, "", ["type", "version", "network", "block", "attest", "attestor", "signature"]);
  return {
    type: readConstant(members.type, "/type", "block-attestation"),
    ...readVersion(members),
    block: readBlock(members.block),
    ...readAttestation(members),
  };
}

/** Reads an InclusionBundle as `parseBundle` does. @throws FormatError */
export function parseInclusionBundle(value: unknown): InclusionBundle {
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
  const block = readBlock(members.block);
  const source = readSource(members.source);
  if (sourceChain(source) !== block.chain)
    throw new FormatError("/source", `must be of ${block.chain}, as the block is`);
  return {
    type: readConstant(members.type, "/type", "tx-inclusion"),
    ...readVersion(members),
    block,
    source,
    inclusion: CHAINS[block.chain].readInclusion(members.inclusion, "/inclusion"),
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

function readBlock(value: unknown): BundleBlock {
  const members = readMembers(value, "/block", ["chain", "height", "blockHash", "headerBase64", "hashSha256"]);
  const chain = readChain(members.chain, "/block/chain");
  return {
    chain,
    height: readInteger(members.height, "/block/height", 0),
    blockHash: readString(members.blockHash, "/block/blockHash", `a block hash of ${chain}`, CHAINS[chain].isBlockHash),
    headerBase64: readBase64(members.headerBase64, "/block/headerBase64"),
    hashSha256: readString(members.hashSha256, "/block/hashSha256", "lower-case hex of 32 bytes", HEX_32_BYTES),
  };
}

function readSource(value: unknown): BundleSource {
  const members = readMembers(value, "/source", ["txnId", "hashSha256", "txnBytesBase64"], ["chain"]);
  const named = Object.hasOwn(members, "chain") ? { chain: readChain(members.chain, "/source/chain") } : {};
  return {
    ...named,
    txnId: readString(
      members.txnId,
      "/source/txnId",
      `a transaction id${named.chain ? ` of ${named.chain}` : ""}`,
      (id) => (named.chain ? CHAINS[named.chain].isTransactionId(id) : inferChain(id) !== undefined),
    ),
    hashSha256: readString(members.hashSha256, "/source/hashSha256", "lower-case hex of 32 bytes", HEX_32_BYTES),
    txnBytesBase64: readBase64(members.txnBytesBase64, "/source/txnBytesBase64"),
  };
}

function readChain(value: unknown, pointer: string): SourceChain {
  const isChain = (name: string) => Object.hasOwn(CHAINS, name);
  return readString(value, pointer, `one of ${Object.keys(CHAINS).join(", ")}`, isChain) as SourceChain;
}

function readAttest(value: unknown): BundleAttest {
  const { txnId, round, note } = readMembers(value, "/attest", ["txnId", "round", "note"]);
  return {
    txnId: readString(txnId, "/attest/txnId", "an Algorand transaction id", isAlgorandTxId),
    round: readInteger(round, "/attest/round", 1),
    note: readString(note, "/attest/note", `text of at most ${MAX_NOTE_LENGTH} bytes`, isNoteText),
  };
}

function isNoteText(text: string): boolean {
  return text.isWellFormed() && utf8(text).length <= MAX_NOTE_LENGTH;
}

function readAttestor(value: unknown): BundleAttestor {
  const { algorandAddress, pqPublicKey } = readMembers(value, "/attestor", ["algorandAddress", "pqPublicKey"]);
  return {
    algorandAddress: readAddress(algorandAddress, "/attestor/algorandAddress"),
    pqPublicKey: readBase64(pqPublicKey, "/attestor/pqPublicKey", ML_DSA_65_PUBLIC_KEY_LENGTH),
  };
}

/** An Algorand address. @throws FormatError */
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

/** The chain of a source: as named, else as its id shows. */
export function sourceChain(source: BundleSource): SourceChain {
  const chain = source.chain ?? inferChain(source.txnId);
  if (chain === undefined) throw new FormatError("/source/txnId", "must be a transaction id");
  return chain;
}

/** A bundle of any kind before it is signed. */
export type UnsignedBundle =
  | Omit<ProofBundle, "signature">
  | Omit<BlockBundle, "signature">
  | Omit<InclusionBundle, "signature">;

/** What an attestor signs: RFC 8785 of the bundle, as received, without its signature. */
export function signingBytes(bundle: UnsignedBundle | Bundle): Uint8Array<ArrayBuffer> {
  return canonicalBytes(Object.fromEntries(Object.entries(bundle).filter(([member]) => member !== "signature")));
}

/** A bundle's own id S: base64url SHA-256 of RFC 8785 of the whole bundle, signature included. */
export function bundleId(bundle: Bundle): string {
  return toBase64Url(sha256(canonicalBytes(bundle)));
}
