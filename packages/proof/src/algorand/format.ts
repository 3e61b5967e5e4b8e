import type { ChainFormat, Finding } from "../chain-format.ts";
import { fromBase64 } from "../encoding.ts";
import { base64, constant, integer, list, object, type Reader } from "../json/readers.ts";
import { blockHash, headerDigest, headerRound } from "./block.ts";
import { lightHeaderLeaf, transactionLeaf, verifyLeaf } from "./merkle.ts";
import { decodeCanonicalMap, getBytes, type MsgpackMap } from "./msgpack.ts";
import { ALGORAND_MAINNET, algorandCaip2 } from "./network.ts";
import { ALGORAND_ID, decodeTransaction, txid } from "./transaction.ts";

const DIGEST_LENGTH = 32;
/** The depth limit of a payset's tree: a 5 MiB block holds fewer than 2^17 transactions. */
const MAX_SIBLINGS = 20;

/** The proof from an Algorand transaction to its block's header. */
export type AlgorandInclusion = {
  kind: "algorand-merkle";
  /** `txn256` where the header has it. */
  tree: "txn256" | "txn";
  /** Index in the payset, from 0. */
  index: number;
  /** Canonical msgpack of the in-block map, base64, without the prefix `STIB`. */
  stibBase64: string;
  /** From leaf to root, base64 of 32 bytes each. */
  siblings: string[];
  lightHeader?: LightHeaderProof;
};

/** The proof from an Algorand header to the commitment of a state proof. */
export type LightHeaderProof = {
  /** The round's position in its interval, from 0. */
  index: number;
  /** The number of rounds that one state proof covers; a power of two. */
  interval: number;
  /** The state proof message's `BlockHeadersCommitment`, base64 of 32 bytes. */
  commitment: string;
  /** From leaf to root, base64 of 32 bytes each. */
  siblings: string[];
};

const digest = base64(DIGEST_LENGTH);
const siblings = list(MAX_SIBLINGS, digest);
const lightHeader = object({ index: integer(0), interval: integer(1), commitment: digest, siblings });
const readInclusion: Reader<AlgorandInclusion> = object(
  {
    kind: constant("algorand-merkle"),
    tree: constant("txn256", "txn"),
    index: integer(0),
    stibBase64: base64(),
    siblings,
  },
  { lightHeader },
);

export const algorandFormat: ChainFormat<AlgorandInclusion> = {
  name: "algorand",
  label: "Algorand",
  caip2: ALGORAND_MAINNET,
  transactionId: ALGORAND_ID,
  blockHash: ALGORAND_ID,
  terms: {
    height: "round",
    transactionBytes: "canonical msgpack of the unsigned transaction",
    headerBytes: "canonical msgpack of the header map",
  },
  levels: ["finalized"],
  transactionsCanFail: false,

  transaction(bytes, ledger) {
    return { caip2: network(decodeTransaction(bytes), ledger), txnId: txid(bytes) };
  },

  header(bytes, ledger) {
    const header = readHeader(bytes);
    return { blockHash: blockHash(bytes), height: headerRound(header), caip2: network(header, ledger) };
  },

  readInclusion,

  checkInclusion(inclusion, transaction, headerBytes) {
    const header = readHeader(headerBytes);
    return [
      ...checkPath(inclusion, transaction, header),
      ...(inclusion.lightHeader ? checkLightHeader(inclusion.lightHeader, header, headerBytes) : []),
    ];
  },

  commitment: ({ lightHeader }) => lightHeader?.commitment,
};

/** @throws ProofError `malformed` unless the bytes are canonical msgpack of a map whose round and `gh` are valid */
function readHeader(bytes: Uint8Array): MsgpackMap {
  const header = decodeCanonicalMap(bytes);
  headerRound(header);
  getBytes(header, "gh", DIGEST_LENGTH);
  return header;
}

function checkPath(inclusion: AlgorandInclusion, transaction: Uint8Array, header: MsgpackMap): Finding[] {
  const { tree, index, stibBase64, siblings } = inclusion;
  if (tree === "txn" && header.has("txn256")) return [{ pointer: "/inclusion/tree", stated: tree, computed: "txn256" }];
  const root = getBytes(header, tree, DIGEST_LENGTH);
  const leaf = transactionLeaf(tree, transaction, fromBase64(stibBase64));
  if (root !== undefined && verifyLeaf(tree, leaf, index, siblings.map(fromBase64), root)) return [];
  return [{ pointer: "/inclusion", message: `does not lead to the header's ${tree}` }];
}

/** Checks the path from a header to a vector commitment over the light headers of an interval. */
function checkLightHeader(proof: LightHeaderProof, header: MsgpackMap, headerBytes: Uint8Array): Finding[] {
  const { index, interval, siblings } = proof;
  const leaf = lightHeaderLeaf(header, headerDigest(headerBytes));
  const leads = verifyLeaf("txn256", leaf, index, siblings.map(fromBase64), fromBase64(proof.commitment));
  if (leads && interval === 2 ** siblings.length) return [];
  return [{ pointer: "/inclusion/lightHeader", message: "does not lead to its commitment" }];
}

/** CAIP-2 of the network in a transaction or header; the ledger if it has none. */
function network(map: MsgpackMap, ledger: string): string {
  const genesisHash = getBytes(map, "gh", DIGEST_LENGTH);
  return genesisHash === undefined ? ledger : algorandCaip2(genesisHash);
}
