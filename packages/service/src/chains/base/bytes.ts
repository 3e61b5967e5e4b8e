import { isProofError } from "@attestd/proof";
import { baseTxHash, decodeBaseTransaction, evmCaip2, transactionChainId } from "@attestd/proof/base";
import { ignoring, ServiceError } from "../../lib/errors.ts";
import type { EthereumNodes, EthereumRpc, Receipt } from "../../providers/ethereum-rpc.ts";
import { isProviderError, type ProviderError, unavailable } from "../../providers/provider.ts";
import { ended, failover, reportConflict } from "../../providers/quorum.ts";
import type { ChainReading, SourceError } from "../chain.ts";
import * as baseWork from "./block-work.ts";

export type BaseReading = ChainReading<EthereumNodes, typeof baseWork>;

/** A transaction's place. */
type TransactionPlace = Pick<Receipt, "transactionHash" | "blockHash" | "transactionIndex">;

/** One way to get the bytes of transactions; undefined if the node does not give them. */
type Way = {
  name: string;
  fetch(
    rpc: EthereumRpc,
    places: readonly TransactionPlace[],
    signal: AbortSignal,
  ): Promise<(Uint8Array | undefined | ProviderError)[]>;
};

/**
 * Fetches the EIP-2718 bytes of transactions by several methods, each with every node in turn. Several clients have
 * shipped wrong raw bytes: bytes are accepted from any node if they hash to the id, and from none if they do not; wrong
 * ones are logged.
 * @returns by hash, the bytes, or source_unreadable when every node answered and none gave them
 * @throws ProviderError when a node that may have the bytes of one of them could not be asked
 */
export async function fetchBytes(
  { rpcs, rules }: EthereumNodes,
  places: readonly TransactionPlace[],
  signal: AbortSignal,
): Promise<Map<string, Uint8Array | SourceError>> {
  const about = (hash: string) => `the bytes of transaction ${hash}`;
  const types = new Map<string, string>();
  const unasked = new Map<string, ProviderError>();
  const found = new Map<string, Uint8Array | SourceError>();
  // Each way is tried with every node before the next one: a node that leaves one request unanswered would take all the
  // time.
  for (const { name, fetch } of waysToBytes(types)) {
    for (const rpc of rpcs) {
      const missing = places.filter(({ transactionHash: hash }) => !found.has(hash));
      const [first] = missing;
      if (!first) return found;
      const answers = await fetch(rpc, missing, signal).catch((error: unknown) => {
        throw signal.aborted ? ended(signal, about(first.transactionHash)) : error;
      });
      for (const [index, { transactionHash: hash }] of missing.entries()) {
        const bytes = answers[index];
        if (bytes instanceof Error) unasked.set(hash, bytes);
        if (bytes === undefined || bytes instanceof Error) continue;
        const actual = baseTxHash(bytes);
        if (actual === hash) found.set(hash, bytes);
        else {
          const conflicting = [{ provider: rpc.name, answer: `${name} leads to bytes of ${actual}` }];
          reportConflict({ about: about(hash), answers: conflicting }, rules);
        }
      }
    }
  }
  for (const { transactionHash: hash } of places) {
    if (found.has(hash)) continue;
    const message = `no node gives bytes of transaction ${hash}, of type ${types.get(hash) ?? "unknown"}, that hash to it`;
    const fault = unasked.get(hash);
    if (fault) throw fault;
    found.set(hash, new ServiceError("source_unreadable", message));
  }
  return found;
}

/** @param types by hash, the types of the transactions whose JSON was read */
function waysToBytes(types: Map<string, string>): Way[] {
  return [
    raw("eth_getRawTransactionByHash", ({ transactionHash: hash }) => [hash]),
    raw("eth_getRawTransactionByBlockHashAndIndex", ({ blockHash, transactionIndex }) => {
      return [blockHash, `0x${transactionIndex.toString(16)}`];
    }),
    raw("debug_getRawTransaction", ({ transactionHash: hash }) => [hash]),
    {
      name: "eth_getTransactionByHash",
      fetch: async (rpc, places, signal) => {
        const hashes = places.map(({ transactionHash: hash }) => hash);
        const transactions = await rpc.transactions(hashes, signal);
        const serialized = transactions.map((transaction, index) => {
          if (transaction === undefined || transaction instanceof Error) return transaction;
          if (transaction.type !== undefined) types.set(hashes[index] as string, transaction.type);
          return baseWork.serializeTransaction(transaction);
        });
        return Promise.all(serialized);
      },
    },
  ];
}

function raw(method: string, paramsOf: (place: TransactionPlace) => readonly unknown[]): Way {
  return { name: method, fetch: (rpc, places, signal) => rpc.raws(method, places.map(paramsOf), signal) };
}

/**
 * Fetches the bytes of every transaction of a block: from one JSON of the whole block, and singly if that does not lead
 * to bytes with its hash. The block's root shows whether the transactions are the block's.
 * @param block.transactions hashes in block order
 * @returns EIP-2718 bytes in block order; they hash to `block.transactions`
 * @throws SourceError source_unreadable; ProviderError
 */
export async function readTransactions(
  { nodes, work }: BaseReading,
  { hash: blockHash, transactions: hashes }: { hash: string; transactions: readonly string[] },
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  const items = await work.serializeTransactions(hashes, await blockTransactions(nodes, blockHash, signal));
  const places = hashes.map((transactionHash, transactionIndex) => ({ transactionHash, blockHash, transactionIndex }));
  const missing = places.filter(({ transactionIndex }) => items[transactionIndex] === undefined);
  const fetched = await fetchBytes(nodes, missing, signal);
  return places.map(({ transactionHash, transactionIndex }) => {
    const bytes = items[transactionIndex] ?? fetched.get(transactionHash);
    if (bytes instanceof Uint8Array) return bytes;
    throw bytes;
  });
}

/** @returns the transactions as JSON; an empty list if no node gives the whole block */
async function blockTransactions({ rpcs }: EthereumNodes, hash: string, signal: AbortSignal) {
  const ask = async (rpc: EthereumRpc, ends: AbortSignal) => {
    const transactions = await rpc.blockTransactions(hash, ends);
    if (transactions === undefined) throw unavailable(`${rpc.name} knows no block ${hash}`);
    return transactions;
  };
  const question = { about: `the transactions of block ${hash}`, signal };
  return (await failover(rpcs, ask, question).catch(ignoring(isProviderError))) ?? [];
}

/**
 * Whether a transaction names a chain that is not accepted.
 * @param bytes EIP-2718, with this hash
 * @returns source_wrong_chain; source_unreadable when the bytes have no known form
 */
export function foreignChain(hash: string, bytes: Uint8Array, accepted: ReadonlySet<string>): SourceError | undefined {
  let chainId: bigint | undefined;
  try {
    chainId = transactionChainId(decodeBaseTransaction(bytes));
  } catch (cause) {
    if (!isProofError(cause, "malformed")) throw cause;
    return new ServiceError("source_unreadable", `the bytes of transaction ${hash} are of no known form`, { cause });
  }
  if (chainId === undefined || accepted.has(evmCaip2(chainId))) return undefined;
  const message = `transaction ${hash} belongs to ${evmCaip2(chainId)}, which is not attested`;
  return new ServiceError("source_wrong_chain", message);
}
