import type { ChainName, ConfirmationLevel, SourceChain } from "../chains/chain.ts";
import { blockProduct } from "./block.ts";
import { inclusionProduct } from "./inclusion.ts";
import type { Products } from "./product.ts";
import { transactionProduct } from "./transaction.ts";

/** The levels that Base's settings ask for: of transactions, and of blocks and of proofs in them. */
export type BaseLevels = { confirmation: ConfirmationLevel; blockConfirmation: ConfirmationLevel };

/** Everything that is sold. @param base absent where Base is not configured */
export function createProducts(
  chains: ReadonlyMap<ChainName, SourceChain>,
  base: BaseLevels = { confirmation: "safe", blockConfirmation: "finalized" },
): Products {
  const ofTransactions = { algorand: "finalized", base: base.confirmation } as const;
  const ofBlocks = { algorand: "finalized", base: base.blockConfirmation } as const;
  return {
    transaction: transactionProduct(chains, ofTransactions),
    block: blockProduct(chains, ofBlocks),
    inclusion: inclusionProduct(chains, ofBlocks),
  };
}
