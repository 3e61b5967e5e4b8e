import { MAX_BUNDLE_BYTES } from "@attestd/proof";
import type { ChainName, ConfirmationLevel, SourceChains } from "../chains/chain.ts";
import type { BlockFacts } from "../chains/chain-kind.ts";
import { SOURCE_CHAINS } from "../chains/registry.ts";

type BlockCapability = BlockFacts & {
  levels: { known: readonly ConfirmationLevel[]; required: ConfirmationLevel };
};

/** The document of `GET /block-capabilities`. */
export function blockCapabilities(sources: SourceChains) {
  const chains: Record<ChainName, BlockCapability> = {};
  for (const { blocks, format } of SOURCE_CHAINS) {
    const required = sources.get(format.name)?.required.block.level;
    if (required) chains[format.name] = { ...blocks, levels: { known: format.levels, required } };
  }
  return {
    chains,
    limits: {
      blocksPerRequest: 1,
      transactionsPerRequest: 1,
      bundleBytes: MAX_BUNDLE_BYTES,
      heights: "0 to 2^53 - 1, as an integer or decimal digits",
    },
    doesNotProve: [
      "That the chain agreed on the block. The configured nodes agree on the header, and the attestor signs it; consensus itself is not verified.",
      "That a transaction is in no block, or in no other one: only that it is in this one.",
      "What anyone owned before or after: no balances, no storage, no state.",
      "That the transaction was wanted or lawful, or that no later one undoes it.",
    ],
  };
}
