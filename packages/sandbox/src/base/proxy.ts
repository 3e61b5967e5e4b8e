import { type Hex, numberToHex } from "viem";
import { type RpcCall, RpcError, type RpcHandler } from "../jsonrpc.ts";
import { transactionFromBytes } from "./encoding.ts";
import type { Kept, LogFilter } from "./kept.ts";
import type { RecordedBlock, RecordedTransaction } from "./recordings.ts";
import { type ServedBlock, servedMethods } from "./served.ts";

/** EIP-4444's error code for pruned history. */
const PRUNED_HISTORY = 4444;
/** geth's error code for a request that it cannot serve. */
const SERVER_ERROR = -32000;

/** Methods that return a transaction's bytes, each with the method that returns the same transaction as JSON. */
const RAW_METHODS = new Map([
  ["eth_getRawTransactionByHash", "eth_getTransactionByHash"],
  ["debug_getRawTransaction", "eth_getTransactionByHash"],
  ["eth_getRawTransactionByBlockHashAndIndex", "eth_getTransactionByBlockHashAndIndex"],
  ["eth_getRawTransactionByBlockNumberAndIndex", "eth_getTransactionByBlockNumberAndIndex"],
]);

/**
 * Base's JSON-RPC for clients. Recorded blocks and transactions come from the recordings, those of earlier starts from
 * the archive, everything else from anvil. anvil 1.7.1 aborts when asked for the bytes of a deposit (0x7e): the proxy
 * then answers with an error, like a node without them, and a caller must rebuild them from JSON.
 */
export function baseRpc(anvil: RpcCall, recordings: readonly RecordedBlock[], kept: Kept): RpcHandler {
  const known = servedMethods([...kept.blocks, ...recordings.map(served)]);
  return async (method, params) => {
    const args = Array.isArray(params) ? params : [];
    const answer = await known.get(method)?.(...args);
    if (answer !== undefined) return answer;
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

function served({ number, hash, header, transactions }: RecordedBlock): ServedBlock {
  return {
    number,
    hash,
    json: { ...header, hash, uncles: [], ...("withdrawalsRoot" in header && { withdrawals: [] }) },
    transactions: transactions.map((recorded) => ({
      ...recorded,
      json: () => transactionJson(recorded),
      receipt: () => receiptJson(recorded),
    })),
    receipts() {
      throw new RpcError(PRUNED_HISTORY, "pruned history unavailable: receipts were not recorded");
    },
  };
}

async function transactionJson(recorded: RecordedTransaction): Promise<object> {
  return { ...place(recorded), hash: recorded.hash, ...(await transactionFromBytes(recorded.raw)) };
}

/**
 * Returns a transaction's receipt: its position and members. Receipts were not recorded: gas and logs are absent, and
 * `status`, without which nothing can be attested, means success.
 */
async function receiptJson(recorded: RecordedTransaction): Promise<object> {
  const { type, from, to } = await transactionFromBytes(recorded.raw);
  return { ...place(recorded), transactionHash: recorded.hash, type, from, to, status: "0x1" };
}

function place({ block, index }: RecordedTransaction) {
  return { blockHash: block.hash, blockNumber: block.header.number, transactionIndex: numberToHex(index) };
}
