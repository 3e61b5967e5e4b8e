import type { SourceChain } from "./chains.ts";

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
export type BundleType = "transaction-attestation" | "block-attestation" | "tx-inclusion";

/** The attestation of a transaction. */
export type ProofBundle = {
  version: 1;
  network: "algorand-mainnet";
  source: BundleSource;
  attest: BundleAttest;
  attestor: BundleAttestor;
  signature: BundleSignature;
};

/** A block, by its header. */
export type BundleBlock = {
  chain: SourceChain;
  /** Algorand's round, Base's number. */
  height: number;
  /** Algorand: 52 characters of base32. Base: `0x` and 64 hex digits. */
  blockHash: string;
  /** Algorand: canonical msgpack of the header map. Base: RLP. */
  headerBase64: string;
  /** Lower-case hex SHA-256 of the header's bytes. */
  hashSha256: string;
};

/** The attestation of a block. */
export type BlockBundle = {
  type: "block-attestation";
  version: 1;
  network: "algorand-mainnet";
  block: BundleBlock;
  attest: BundleAttest;
  attestor: BundleAttestor;
  signature: BundleSignature;
};

/** The way from an Algorand transaction to its block's header. */
export type AlgorandInclusion = {
  kind: "algorand-merkle";
  /** `txn256` where the header has it. */
  tree: "txn256" | "txn";
  /** Place in the payset, from 0. */
  index: number;
  /** Canonical msgpack of the in-block map, base64, without the prefix `STIB`. */
  stibBase64: string;
  /** From leaf to root, base64 of 32 bytes each. */
  siblings: string[];
  lightHeader?: LightHeaderProof;
};

/** The way from an Algorand header to the commitment of a state proof. */
export type LightHeaderProof = {
  /** Place of the round in its interval, from 0. */
  index: number;
  /** Rounds that one state proof covers; a power of two. */
  interval: number;
  /** The state proof message's `BlockHeadersCommitment`, base64 of 32 bytes. */
  commitment: string;
  /** From leaf to root, base64 of 32 bytes each. */
  siblings: string[];
};

/** The way from a Base transaction, and its receipt, to its block's header. */
export type BaseInclusion = {
  kind: "mpt";
  /** Place in the block, from 0. */
  index: number;
  /** Trie nodes from root to leaf, base64. */
  nodes: string[];
  receipt?: { bytesBase64: string; nodes: string[] };
};

export type Inclusion = AlgorandInclusion | BaseInclusion;

/** A proof that a transaction is in a block which is attested. */
export type InclusionBundle = {
  type: "tx-inclusion";
  version: 1;
  network: "algorand-mainnet";
  block: BundleBlock;
  source: BundleSource;
  inclusion: Inclusion;
  attest: BundleAttest;
  attestor: BundleAttestor;
  signature: BundleSignature;
};

export type Bundle = ProofBundle | BlockBundle | InclusionBundle;
