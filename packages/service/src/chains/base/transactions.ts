import type { EthereumNodes, EthereumRpc } from "../../providers/ethereum-rpc.ts";
import { isProviderError, unavailable } from "../../providers/provider.ts";
import { failover } from "../../providers/quorum.ts";
import type { BaseWork } from "./block-work.ts";
import { fetchBytes } from "./bytes.ts";

/** Transactions whose bytes are fetched at once. */
const AT_ONCE = 8;

type Reading = { nodes: EthereumNodes; work: BaseWork };

/**
 * Fetches the bytes of every transaction of a block: from one JSON of the whole block, and those that it does not lead
 * to one by one (bytes.ts). All hash to their ids; the block's root shows whether the ids are the block's.
 *
 * @param block.transactions hashes in block order
 * @returns EIP-2718 bytes in block order
 * @throws SourceError source_unreadable; ProviderError
 */
export async function readTransactions(
  { nodes, work }: Reading,
  { hash: blockHash, transactions: hashes }: { hash: string; transactions: readonly string[] },
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  const items = await work.serializeTransactions(hashes, await wholeBlock(nodes, blockHash, signal));
  const missing = [...hashes.keys()].filter((index) => items[index] === undefined).values();
  const fetchMissing = async () => {
    for (const index of missing) {
      const place = { transactionHash: hashes[index] as string, blockHash, transactionIndex: index };
      items[index] = await fetchBytes(nodes.rpcs, place, nodes.rules, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchMissing));
  return items as Uint8Array[];
}

/** @returns an empty list where no node gives the whole block */
async function wholeBlock({ rpcs }: EthereumNodes, hash: string, signal: AbortSignal) {
  const about = `the transactions of block ${hash}`;
  const ask = async (rpc: EthereumRpc, ends: AbortSignal) => {
    const transactions = await rpc.blockTransactions(hash, ends);
    if (transactions === undefined) throw unavailable(`${rpc.name} knows no block ${hash}`);
    return transactions;
  };
  try {
    return await failover(rpcs, ask, { about, signal });
  } catch (error) {
    if (isProviderError(error)) return [];
    throw error;
  }
}
