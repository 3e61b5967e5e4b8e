import { ALGORAND_MAINNET } from "../algorand/network.ts";
import type { ChainFormat, Finding } from "../chain-format.ts";
import { equalBytes, fromBase64 } from "../encoding.ts";
import { isProofError } from "../errors.ts";
import { base64, constant, integer, list, object, type Reader } from "../json/readers.ts";
import type { Keccak256 } from "../signature.ts";
import { baseHeaderHash, decodeBaseHeader } from "./header.ts";
import { BASE_MAINNET, evmCaip2 } from "./network.ts";
import { readReceiptStatus } from "./receipt.ts";
import { BASE_HASH, baseTxHash, decodeBaseTransaction, transactionChainId } from "./transaction.ts";
import { verifyIndex } from "./trie.ts";

/**
 * The limit of a trie path: the key of a real index has at most 10 nibbles, each with at most an extension and a
 * branch.
 */
const MAX_NODES = 20;

/** The proof from a Base transaction, and its receipt, to its block's header. */
export type BaseInclusion = {
  kind: "mpt";
  /** Index in the block, from 0. */
  index: number;
  /** Trie nodes from root to leaf, base64. */
  nodes: string[];
  receipt?: { bytesBase64: string; nodes: string[] };
};

const nodes = list(MAX_NODES, base64());
const receipt = object({ bytesBase64: base64(), nodes });
const readInclusion: Reader<BaseInclusion> = object({ kind: constant("mpt"), index: integer(0), nodes }, { receipt });

export const baseFormat: ChainFormat<BaseInclusion> = {
  name: "base",
  label: "Base",
  caip2: BASE_MAINNET,
  transactionId: BASE_HASH,
  blockHash: BASE_HASH,
  terms: { height: "block number", transactionBytes: "the EIP-2718 bytes", headerBytes: "RLP of the header" },
  levels: ["included", "safe", "finalized"],
  transactionsCanFail: true,

  transaction(bytes, ledger, { keccak256 }) {
    const chainId = transactionChainId(decodeBaseTransaction(bytes));
    // On a sandbox, recordings of other OP Stack chains are served as Base: chain ids count only on MainNet's
    // ledger.
    const namesChain = chainId !== undefined && ledger === ALGORAND_MAINNET;
    return { txnId: baseTxHash(bytes, keccak256), caip2: namesChain ? evmCaip2(chainId) : BASE_MAINNET };
  },

  header(bytes, _ledger, { keccak256 }) {
    const { number } = decodeBaseHeader(bytes);
    return { blockHash: baseHeaderHash(bytes, keccak256), height: number, caip2: BASE_MAINNET };
  },

  readInclusion,

  checkInclusion({ index, nodes, receipt }, transaction, headerBytes, { keccak256 }) {
    const { transactionsRoot, receiptsRoot } = decodeBaseHeader(headerBytes);
    const found = checkProof("/inclusion/nodes", transaction, transactionsRoot, index, nodes, keccak256);
    if (receipt === undefined) return found;
    const bytes = fromBase64(receipt.bytesBase64);
    const unproven = checkProof("/inclusion/receipt", bytes, receiptsRoot, index, receipt.nodes, keccak256);
    return [...found, ...(unproven.length > 0 ? unproven : checkReceipt(bytes, transaction))];
  },

  receiptStatus({ receipt }, transaction) {
    return receipt && readReceiptStatus(fromBase64(receipt.bytesBase64), transaction);
  },
};

function checkReceipt(receipt: Uint8Array, transaction: Uint8Array): Finding[] {
  try {
    readReceiptStatus(receipt, transaction);
    return [];
  } catch (error) {
    if (!isProofError(error, "malformed")) throw error;
    return [{ pointer: "/inclusion/receipt/bytesBase64", message: error.message }];
  }
}

function checkProof(
  pointer: string,
  item: Uint8Array,
  root: Uint8Array,
  index: number,
  nodes: string[],
  keccak256: Keccak256,
): Finding[] {
  const proven = verifyIndex(root, index, nodes.map(fromBase64), keccak256);
  return proven !== undefined && equalBytes(proven, item) ? [] : [{ pointer, message: "does not lead to the header" }];
}
