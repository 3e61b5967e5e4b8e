import { sha256 } from "@noble/hashes/sha2.js";
import { isAlgorandAddress, isAlgorandTxId } from "./algorand/transaction.ts";
import { canonicalBytes } from "./canonical.ts";
import { CHAINS, inferChain, type SourceChain } from "./chains.ts";
import { toBase64Url, utf8 } from "./encoding.ts";
import { FormatError, HEX_32_BYTES, readBase64, readConstant, readInteger, readMembers, readString } from "./format.ts";
import { MAX_NOTE_LENGTH } from "./note.ts";
import { ML_DSA_65_PUBLIC_KEY_LENGTH, ML_DSA_65_SIGNATURE_LENGTH } from "./signature.ts";

export type BundleSource = {
  /** Inferred from `txnId` where absent; never added to what is signed. */
  chain?: SourceChain;
  txnId: string;
  /** Lower-case hex SHA-256 of the bytes. */
  hashSha256: string;
  /** The exact bytes whose hash is `txnId`. */
  txnBytesBase64: string;
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

/** The kinds of bundle. A transaction's, the oldest, does not name its own. */
export type BundleType = "transaction-attestation";

/** The attestation of a transaction. */
export type ProofBundle = {
  version: 1;
  network: "algorand-mainnet";
  source: BundleSource;
  attest: BundleAttest;
  attestor: BundleAttestor;
  signature: BundleSignature;
};

/**
 * Reads a ProofBundle: every member present, none other, each in its one spelling. Whether what it says is true is for
 * `verify`.
 * @param value as `parseJson` gives it
 * @throws FormatError
 */
export function parseProofBundle(value: unknown): ProofBundle {
  const members = readMembers(value, "", ["version", "network", "source", "attest", "attestor", "signature"]);
  return {
    version: readConstant(members.version, "/version", 1),
    network: readConstant(members.network, "/network", "algorand-mainnet"),
    source: readSource(members.source),
    attest: readAttest(members.attest),
    attestor: readAttestor(members.attestor),
    signature: readSignature(members.signature),
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

/** What an attestor signs: RFC 8785 of the bundle, as received, without its signature. */
export function signingBytes(bundle: Omit<ProofBundle, "signature"> | ProofBundle): Uint8Array<ArrayBuffer> {
  return canonicalBytes(Object.fromEntries(Object.entries(bundle).filter(([member]) => member !== "signature")));
}

/** A bundle's own id S: base64url SHA-256 of RFC 8785 of the whole bundle, signature included. */
export function bundleId(bundle: ProofBundle): string {
  return toBase64Url(sha256(canonicalBytes(bundle)));
}
