import { isProofError } from "@attestd/proof";
import { baseTxHash, decodeBaseTransaction, evmCaip2, transactionChainId } from "@attestd/proof/base";
import { ignoring, ServiceError } from "../../errors.ts";
import type { EthereumNodes, EthereumRpc, Receipt } from "../../providers/ethereum-rpc.ts";
import { isProviderError, type ProviderError, unavailable } from "../../providers/provider.ts";
import { ended, failover, reportConflict } from "../../providers/quorum.ts";
import type { ChainReading } from "../chain.ts";
import * as baseWork from "./block-work.ts";

export type BaseReading = ChainReading<EthereumNodes, typeof baseWork>;

/** Where a transaction is. */
type TransactionPlace = Pick<Receipt, "transactionHash" | "blockHash" | "transactionIndex">;

/** One way to a transaction's bytes; undefined where the node does not give them. */
type Way = { name: string; fetch(rpc: EthereumRpc, signal: AbortSignal): Promise<Uint8Array | undefined> };

/** Transactions of a block whose bytes are fetched one by one at the same time. */
const MAX_AT_ONCE = 8;

/**
 * Fetches a transaction's EIP-2718 bytes, by several methods from each node in turn. Several clients have shipped wrong
 * raw bytes: bytes are taken from any node if they hash to the id, and from none if they do not; wrong ones are reported.
 *
 * @throws SourceError source_unreadable when every node answered and none gave the bytes; ProviderError when a node that
 * may have them could not be asked
 */
export async function fetchBytes(
  { rpcs, rules }: EthereumNodes,
  { transactionHash: hash, blockHash, transactionIndex }: TransactionPlace,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const about = `the bytes of transaction ${hash}`;
  let type = "unknown";
  const reserialize = async (rpc: EthereumRpc, ends: AbortSignal) => {
    const transaction = await rpc.transaction(hash, ends);
    type = transaction?.type ?? type;
    return transaction && baseWork.serializeTransaction(transaction);
  };
  const ways: Way[] = [
    raw("eth_getRawTransactionByHash", [hash]),
    raw("eth_getRawTransactionByBlockHashAndIndex", [blockHash, `0x${transactionIndex.toString(16)}`]),
    raw("debug_getRawTransaction", [hash]),
    { name: "eth_getTransactionByHash", fetch: reserialize },
  ];
  let unasked: ProviderError | undefined;
  for (const rpc of rpcs) {
    for (const { name, fetch } of ways) {
      const bytes = await fetch(rpc, signal).catch((error: unknown) => {
        if (signal.aborted) throw ended(signal, about);
        if (!isProviderError(error)) throw error;
        unasked = error;
        return undefined;
      });
      if (bytes === undefined) continue;
      const actual = baseTxHash(bytes);
      if (actual === hash) return bytes;
      const answers = [{ provider: rpc.name, answer: `${name} leads to bytes of ${actual}` }];
      reportConflict({ about, answers }, rules);
    }
  }
  const message = `no node gives bytes of transaction ${hash}, of type ${type}, that hash to it`;
  throw unasked ?? new ServiceError("source_unreadable", message);
}

function raw(method: string, params: readonly unknown[]): Way {
  return { name: method, fetch: (rpc, signal) => rpc.raw(method, params, signal) };
}

/**
 * Fetches the bytes of every transaction of a block: from one JSON of the whole block, and one by one where that does not
 * lead to bytes of the hash. The block's root shows whether the transactions are the block's.
 *
 * @param block.transactions hashes in block order
 * @returns EIP-2718 bytes in block order; they hash to `block.transactions`
 * @throws SourceError source_unreadable; ProviderError
 */
export async function readTransactions(
  { nodes, work }: BaseReading,
  { hash: blockHash, transactions: hashes }: { hash: string; transactions: readonly string[] },
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  const items = await work.serializeTransactions(hashes, await wholeBlock(nodes, blockHash, signal));
  const missing = [...hashes.keys()].filter((index) => items[index] === undefined).values();
  const fetchMissing = async () => {
    for (const transactionIndex of missing) {
      const place = { transactionHash: hashes[transactionIndex] as string, blockHash, transactionIndex };
      items[transactionIndex] = await fetchBytes(nodes, place, signal);
    }
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, fetchMissing));
  return items as Uint8Array[];
}

/** @returns the transactions as JSON; an empty list where no node gives the whole block */
async function wholeBlock({ rpcs }: EthereumNodes, hash: string, signal: AbortSignal) {
  const ask = async (rpc: EthereumRpc, ends: AbortSignal) => {
    const transactions = await rpc.blockTransactions(hash, ends);
    if (transactions === undefined) throw unavailable(`${rpc.name} knows no block ${hash}`);
    return transactions;
  };
  const question = { about: `the transactions of block ${hash}`, signal };
  return (await failover(rpcs, ask, question).catch(ignoring(isProviderError))) ?? [];
}

/**
 * Requires that a transaction, where it names a chain, names one of those accepted.
 *
 * @param bytes EIP-2718, of the hash
 * @throws SourceError source_wrong_chain; source_unreadable when the bytes are of no known form
 */
export function requireChain(hash: string, bytes: Uint8Array, accepted: ReadonlySet<string>): void {
  let chainId: bigint | undefined;
  try {
    chainId = transactionChainId(decodeBaseTransaction(bytes));
  } catch (cause) {
    if (!isProofError(cause, "malformed")) throw cause;
    throw new ServiceError("source_unreadable", `the bytes of transaction ${hash} are of no known form`, { cause });
  }
  if (chainId === undefined || accepted.has(evmCaip2(chainId))) return;
  const message = `transaction ${hash} belongs to ${evmCaip2(chainId)}, which is not attested`;
  throw new ServiceError("source_wrong_chain", message);
}
