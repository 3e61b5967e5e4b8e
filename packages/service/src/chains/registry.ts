import { algorandChain } from "./algorand/chain-kind.ts";
import { baseChain } from "./base/chain-kind.ts";
import type { SourceChainKind } from "./chain-kind.ts";

/** The source chains, one line each, in the order of documents. Their formats are in `@attestd/proof`, `chains.ts`. */
export const SOURCE_CHAINS: readonly SourceChainKind[] = [
  algorandChain, //
  baseChain,
];
