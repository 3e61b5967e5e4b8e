import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { Algod } from "../providers/algod.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import { BASE_CHAIN_ID, type EthereumNodes, EthereumRpc } from "../providers/ethereum-rpc.ts";
import { Indexer } from "../providers/indexer.ts";
import type { QuorumRules } from "../providers/quorum.ts";
import { type SolanaNodes, SolanaRpc } from "../providers/solana-rpc.ts";

/** The nodes of every chain; a chain that is not configured has none. */
export type Nodes = { algorand: AlgorandNodes; base: EthereumNodes; solana: SolanaNodes };

/** Makes clients of the configured nodes, with breakers of their own. Sends nothing. */
export function openNodes({ algorand, base, solana, providerQuorum }: Config, log: Logger): Nodes {
  const rules: QuorumRules = {
    ...(providerQuorum !== undefined && { quorum: providerQuorum }),
    onConflict: (conflict) => log.error(conflict, "providers contradict one another"),
  };
  return {
    algorand: {
      algods: algorand.algod.map((endpoint) => new Algod(endpoint, algorand.genesisHash)),
      indexers: algorand.indexer.map((endpoint) => new Indexer(endpoint)),
      rules,
    },
    base: { rpcs: (base?.rpc ?? []).map((rpc) => new EthereumRpc(rpc, BASE_CHAIN_ID)), rules },
    solana: { rpcs: (solana?.rpc ?? []).map((rpc) => new SolanaRpc(rpc)), rules },
  };
}
