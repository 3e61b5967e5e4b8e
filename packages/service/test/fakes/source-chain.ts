import { type SourceBlock, type SourceChain, SourceError, type SourceTransaction } from "../../src/chains/chain.ts";

/** A chain that holds these blocks and transactions alone. */
export function chainOf(
  blocks: readonly SourceBlock[],
  transactions: readonly SourceTransaction[] = [],
  name: SourceChain["name"] = "base",
): SourceChain {
  return {
    name,
    isTransactionId: () => true,
    normalizeTransactionId: (id) => id,
    async transaction(txnId) {
      const found = transactions.find((transaction) => transaction.txnId === txnId);
      if (!found) throw new SourceError("source_not_found", `no transaction ${txnId}`);
      return found;
    },
    async block(height) {
      const found = blocks.find((block) => block.height === height);
      if (!found) throw new SourceError("block_not_found", `no block ${height}`);
      return found;
    },
  };
}
