import type { Inclusion } from "./chains.ts";

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
export type Attested = {
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
