import { readFileSync } from "node:fs";

/** A block as algod answered (`{block, cert}`, msgpack, base64), and the way to its state proof's commitment. */
export type RecordedLightHeader = {
  round: number;
  /** The node's own word. */
  blockHash: string;
  block: string;
  lightHeaderProof: { index: number; proof: string; treedepth: number };
  stateProofMessage: { BlockHeadersCommitment: string; FirstAttestedRound: number; LastAttestedRound: number };
};

/** algod's answer to `GET /v2/blocks/{r}/transactions/{id}/proof`; base64. */
export type RecordedProof = { idx: number; proof: string; stibhash: string };

export type RecordedBlock = {
  consensus: "v33" | "v41" | "v42";
  round: number;
  blockHash: string;
  block: string;
  transactions: {
    txid: string;
    /** Canonical msgpack, as algosdk signed it; base64. */
    unsigned?: string;
    proofs: { sha512_256: RecordedProof; sha256?: RecordedProof };
  }[];
};

const read = (name: string) => JSON.parse(readFileSync(new URL(`recorded/${name}`, import.meta.url), "utf8"));

export const recordedLightHeaders: RecordedLightHeader[] = read("light-headers.json");
export const recordedBlocks: RecordedBlock[] = read("algorand-blocks.json");

/** A block of Base's chain id as anvil made it, its receipts encoded by viem, hex with `0x`. */
export type RecordedBaseBlock = {
  client: string;
  /** `eth_getBlockByNumber`; `transactions` are hashes. */
  block: Record<string, unknown> & { hash: string; receiptsRoot: string; transactions: string[] };
  /** Legacy, a revert of type 2, type 1 with a log, a revert of type 4, a legacy revert. */
  transactions: string[];
  receipts: string[];
};
export const recordedBaseBlock: RecordedBaseBlock = read("base-block.json");

/** A block of Base's chain id as go-ethereum made it after Amsterdam, hex with `0x`. */
export type RecordedAmsterdamBlock = RecordedBaseBlock & {
  headerRlp: string;
  /** Its header in other slots: the JSON of go-ethereum's `types.Header`, and its RLP. */
  otherHeaders: { header: Record<string, unknown> & { hash: string }; rlp: string }[];
};
export const recordedAmsterdamBlock: RecordedAmsterdamBlock = read("amsterdam-block.json");
