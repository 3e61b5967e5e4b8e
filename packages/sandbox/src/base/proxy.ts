import type { Hex } from "viem";
import { type RpcCall, RpcError, type RpcHandler } from "../jsonrpc.ts";
import { transactionFromBytes } from "./encoding.ts";
import type { RecordedBlock, RecordedTransaction, Recordings } from "./recordings.ts";

/** EIP-4444's error code for pruned history. */
const PRUNED_HISTORY = 4444;
/** geth's error code for a request that it cannot serve. */
const SERVER_ERROR = -32000;

/** Methods that return a transaction's bytes, each with the one that returns the same transaction as JSON. */
const RAW_METHODS = new Map([
  ["eth_getRawTransactionByHash", "eth_getTransactionByHash"],
  ["debug_getRawTransaction", "eth_getTransactionByHash"],
  ["eth_getRawTransactionByBlockHashAndIndex", "eth_getTransactionByBlockHashAndIndex"],
  ["eth_getRawTransactionByBlockNumberAndIndex", "eth_getTransactionByBlockNumberAndIndex"],
]);

/**
 * Base's JSON-RPC for clients: recorded blocks and transactions from the recordings, everything else from anvil. anvil
 * 1.7.1 aborts when asked for the bytes of a deposit (0x7e): the proxy answers with an error, like a node that does not
 * have them, and a caller has to rebuild them from JSON.
 */
export function baseRpc(anvil: RpcCall, recordings: Recordings): RpcHandler {
  const recorded = new Map(Object.entries(recordedMethods(recordings)));
  return async (method, params) => {
    const args = Array.isArray(params) ? params : [];
    const answer = await recorded.get(method)?.(...args);
    if (answer !== undefined) return answer;

    const lookup = RAW_METHODS.get(method);
    if (lookup === undefined) return anvil(method, params);
    const transaction = (await anvil(lookup, args)) as { type: string; hash: Hex } | null;
    if (transaction?.type.toLowerCase() === "0x7e") {
      throw new RpcError(SERVER_ERROR, "the bytes of a deposit transaction are not available");
    }
    // Always by hash: a tag such as `latest` may mean another block by now, with a deposit in it.
    return transaction && anvil("eth_getRawTransactionByHash", [transaction.hash]);
  };
}

/** Methods over the recordings; undefined for anything that was not recorded. */
function recordedMethods({
  byNumber,
  byHash,
  byTransaction,
}: Recordings): Record<string, (...args: unknown[]) => unknown> {
  const numbered = (number: unknown) => (isHex(number) ? byNumber.get(Number(number)) : undefined);
  const hashed = (hash: unknown) => (isHex(hash) ? byHash.get(hash.toLowerCase()) : undefined);
  const transaction = (hash: unknown) => (isHex(hash) ? byTransaction.get(hash.toLowerCase()) : undefined);
  const nth = (block: RecordedBlock | undefined, index: unknown) =>
    block && { block, transaction: block.transactions[Number(index)] };
  const raw = (found: Found | undefined) => found && (found.transaction?.raw ?? null);
  const count = (block: RecordedBlock | undefined) => block && toHex(block.transactions.length);

  return {
    eth_getBlockByNumber: (number, full) => blockJson(numbered(number), full),
    eth_getBlockByHash: (hash, full) => blockJson(hashed(hash), full),
    eth_getBlockTransactionCountByNumber: (number) => count(numbered(number)),
    eth_getBlockTransactionCountByHash: (hash) => count(hashed(hash)),
    eth_getTransactionByHash: (hash) => transactionJson(transaction(hash)),
    eth_getTransactionByBlockNumberAndIndex: (number, index) => transactionJson(nth(numbered(number), index)),
    eth_getTransactionByBlockHashAndIndex: (hash, index) => transactionJson(nth(hashed(hash), index)),
    eth_getRawTransactionByHash: (hash) => raw(transaction(hash)),
    debug_getRawTransaction: (hash) => raw(transaction(hash)),
    eth_getRawTransactionByBlockNumberAndIndex: (number, index) => raw(nth(numbered(number), index)),
    eth_getRawTransactionByBlockHashAndIndex: (hash, index) => raw(nth(hashed(hash), index)),
    eth_getTransactionReceipt: (hash) => receiptJson(transaction(hash)),
    eth_getBlockReceipts: (block) => {
      if ((numbered(block) ?? hashed(block)) === undefined) return undefined;
      throw new RpcError(PRUNED_HISTORY, "pruned history unavailable: receipts were not recorded");
    },
  };
}

/** A recorded block and one of its transactions; undefined for an index beyond the last. */
interface Found {
  block: RecordedBlock;
  transaction: RecordedTransaction | undefined;
}

async function blockJson(block: RecordedBlock | undefined, full: unknown): Promise<object | undefined> {
  if (!block) return undefined;
  const transactions = block.transactions.map((transaction) =>
    full === true ? transactionJson({ block, transaction }) : transaction.hash,
  );
  return {
    ...block.header,
    hash: block.hash,
    transactions: await Promise.all(transactions),
    uncles: [],
    ...("withdrawalsRoot" in block.header ? { withdrawals: [] } : {}),
  };
}

async function transactionJson(found: Found | undefined): Promise<object | null | undefined> {
  if (!found?.transaction) return found && null;
  const members = await transactionFromBytes(found.transaction.raw);
  return { ...place(found.block, found.transaction), hash: found.transaction.hash, ...members };
}

/** Position and members of the transaction. `status`, gas and logs are absent, because they were not recorded. */
async function receiptJson(found: Found | undefined): Promise<object | undefined> {
  if (!found?.transaction) return undefined;
  const { type, from, to } = await transactionFromBytes(found.transaction.raw);
  return { ...place(found.block, found.transaction), transactionHash: found.transaction.hash, type, from, to };
}

function place(block: RecordedBlock, transaction: RecordedTransaction) {
  return {
    blockHash: block.hash,
    blockNumber: block.header.number,
    transactionIndex: toHex(transaction.index),
  };
}

const toHex = (value: number): Hex => `0x${value.toString(16)}`;
const isHex = (value: unknown): value is Hex => typeof value === "string" && value.startsWith("0x");
