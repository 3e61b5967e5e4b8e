import type { Logger } from "pino";
import { algorandChain } from "../chains/algorand/kind.ts";
import { baseChain } from "../chains/base/kind.ts";
import type { SourceChainKind } from "../chains/kind.ts";
import { SOURCE_CHAINS } from "../chains/registry.ts";
import type { Config } from "../config/config.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import type { EthereumNodes } from "../providers/ethereum-rpc.ts";
import type { QuorumRules } from "../providers/quorum.ts";
import { type SolanaNodes, SolanaRpc } from "../providers/solana-rpc.ts";

/** The clients of every configured node. */
export type Nodes = {
  /** Those of each source chain that is configured, as its `connect` made them. */
  sources: ReadonlyMap<SourceChainKind, object>;
  /** Those of the ledger and of the rails; a chain that is not configured has none. */
  algorand: AlgorandNodes;
  base: EthereumNodes;
  solana: SolanaNodes;
};

/** Makes clients of the configured nodes, with breakers of their own. Sends nothing. */
export function openNodes(config: Config, log: Logger): Nodes {
  const { providerQuorum, solana } = config;
  const rules: QuorumRules = {
    ...(providerQuorum !== undefined && { quorum: providerQuorum }),
    onConflict: (conflict) => log.error(conflict, "providers contradict one another"),
  };
  const sources = new Map<SourceChainKind, object>();
  for (const kind of SOURCE_CHAINS) {
    const nodes = kind.connect(config, rules);
    if (nodes) sources.set(kind, nodes);
  }
  return {
    sources,
    algorand: sources.get(algorandChain) as AlgorandNodes,
    base: (sources.get(baseChain) as EthereumNodes | undefined) ?? { rpcs: [], rules },
    solana: { rpcs: (solana?.rpc ?? []).map((rpc) => new SolanaRpc(rpc)), rules },
  };
}
