import { type Hex, numberToHex } from "viem";
import { type RpcCall, RpcError, type RpcHandler } from "../jsonrpc.ts";
import { transactionFromBytes } from "./encoding.ts";
import type { Kept, LogFilter } from "./kept.ts";
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
 * Base's JSON-RPC for clients: recorded blocks and transactions from the recordings, those of earlier starts from what was
 * kept, everything else from anvil. anvil
 * 1.7.1 aborts when asked for the bytes of a deposit (0x7e): the proxy answers with an error, like a node that does not
 * have them, and a caller has to rebuild them from JSON.
 */
export function baseRpc(anvil: RpcCall, recordings: Recordings, kept: Kept): RpcHandler {
  const known = [recordedMethods(recordings), kept.methods].map((methods) => new Map(Object.entries(methods)));
  return async (method, params) => {
    const args = Array.isArray(params) ? params : [];
    for (const methods of known) {
      const answer = await methods.get(method)?.(...args);
      if (answer !== undefined) return answer;
    }
    if (method === "eth_getLogs") {
      const before = kept.logs((args[0] ?? {}) as LogFilter);
      return before.length === 0 ? anvil(method, params) : [...before, ...((await anvil(method, params)) as object[])];
    }

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
function recordedMethods(recordings: Recordings): Record<string, (...args: unknown[]) => unknown> {
  const numbered = (number: unknown) => (isHex(number) ? recordings.byNumber.get(Number(number)) : undefined);
  const hashed = (hash: unknown) => (isHex(hash) ? recordings.byHash.get(hash.toLowerCase()) : undefined);
  const transaction = (hash: unknown) => (isHex(hash) ? recordings.byTransaction.get(hash.toLowerCase()) : undefined);
  const nth = (block: RecordedBlock | undefined, index: unknown) =>
    block && (block.transactions[Number(index)] ?? null);
  const raw = (found: Found) => (found ? found.raw : found);
  const count = (block: RecordedBlock | undefined) => block && numberToHex(block.transactions.length);

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

/** A recorded transaction; null for an index beyond the last of a recorded block. */
type Found = RecordedTransaction | null | undefined;

async function blockJson(block: RecordedBlock | undefined, full: unknown): Promise<object | undefined> {
  if (!block) return undefined;
  const { hash, header } = block;
  const transactions = await Promise.all(
    block.transactions.map((one) => (full === true ? transactionJson(one) : one.hash)),
  );
  return { ...header, hash, transactions, uncles: [], ...("withdrawalsRoot" in header && { withdrawals: [] }) };
}

async function transactionJson(found: Found): Promise<object | null | undefined> {
  return found && { ...place(found), hash: found.hash, ...(await transactionFromBytes(found.raw)) };
}

/**
 * Position and members of the transaction. Receipts were not recorded: gas and logs are absent, and `status`, without which
 * nothing can be attested, is that of a success.
 */
async function receiptJson(found: Found): Promise<object | undefined> {
  if (!found) return undefined;
  const { type, from, to } = await transactionFromBytes(found.raw);
  return { ...place(found), transactionHash: found.hash, type, from, to, status: "0x1" };
}

function place({ block, index }: RecordedTransaction) {
  return { blockHash: block.hash, blockNumber: block.header.number, transactionIndex: numberToHex(index) };
}

const isHex = (value: unknown): value is Hex => typeof value === "string" && value.startsWith("0x");
