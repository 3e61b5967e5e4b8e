import type { SourceChain, SourceTransactions } from "../../src/chains/chain.ts";
import { forEach, Gathered, orSourceError } from "../../src/chains/several.ts";

/** Transactions of one request that are read one by one at the same time. */
const MAX_AT_ONCE = 8;

/**
 * Reads transactions one by one, some at a time: for a chain whose nodes answer about one transaction at a time.
 *
 * @throws as `SourceChain.transactions` does
 */
export async function readSingly(
  chain: Pick<SourceChain, "transaction">,
  txnIds: readonly string[],
  signal: AbortSignal,
): Promise<SourceTransactions> {
  const gathered = new Gathered();
  const read = async (txnId: string, ends: AbortSignal) => {
    gathered.add(txnId, await orSourceError(chain.transaction(txnId, ends)));
  };
  await forEach(new Set(txnIds), MAX_AT_ONCE, read, signal);
  return gathered.all;
}
