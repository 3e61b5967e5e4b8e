import type { SourceChains } from "../chains/chain.ts";
import { blockProduct } from "./block.ts";
import { inclusionProduct } from "./inclusion.ts";
import type { Products } from "./product.ts";
import { transactionProduct } from "./transaction.ts";

/** Everything that is sold. */
export function createProducts(chains: SourceChains): Products {
  return {
    transaction: transactionProduct(chains),
    block: blockProduct(chains),
    inclusion: inclusionProduct(chains),
  };
}
