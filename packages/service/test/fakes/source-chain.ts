import type { ConfirmationLevel, SourceBlock, SourceChain, SourceTransaction } from "../../src/chains/chain.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import { readSingly } from "./read-singly.ts";

/** A chain that holds these blocks and transactions alone. @param required the level that blocks need */
export function chainOf(
  blocks: readonly SourceBlock[],
  transactions: readonly SourceTransaction[] = [],
  { required = "finalized" }: { required?: ConfirmationLevel } = {},
): SourceChain {
  const chain: SourceChain = {
    required: { transaction: { level: "safe", retryAfter: 60 }, block: { level: required, retryAfter: 300 } },
    async transaction(txnId) {
      const found = transactions.find((transaction) => transaction.txnId === txnId);
      if (!found) throw new ServiceError("source_not_found", `no transaction ${txnId}`);
      return found;
    },
    transactions: (txnIds, signal) => readSingly(chain, txnIds, signal),
    async block(height) {
      const found = blocks.find((block) => block.height === height);
      if (!found) throw new ServiceError("block_not_found", `no block ${height}`);
      return found;
    },
  };
  return chain;
}
