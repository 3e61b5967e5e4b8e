import type { Logger } from "pino";
import { algorandChain } from "../chains/algorand/chain-kind.ts";
import type { SourceChainKind } from "../chains/chain-kind.ts";
import { SOURCE_CHAINS } from "../chains/registry.ts";
import type { Config } from "../config/config.ts";
import { count } from "../observe/metrics/meter.ts";
import type { RailKind } from "../payment/rails/rail-kind.ts";
import { RAILS } from "../payment/rails/registry.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import type { QuorumRules } from "../providers/quorum.ts";

/** The clients of every configured node, made by the `connect` of each source chain and rail. */
export type Nodes = {
  /** The clients of each configured source chain. */
  sources: ReadonlyMap<SourceChainKind, object>;
  /** The ledger's clients. */
  algorand: AlgorandNodes;
  /** Returns a rail's clients. A rail that is not configured has none. */
  rail<N extends object>(kind: RailKind<N>): N;
};

/** Makes clients of the configured nodes, with their own breakers. Sends nothing. */
export function openNodes(config: Config, log: Logger): Nodes {
  const { providerQuorum } = config;
  count("conflicts", {}, 0);
  count("minorityAnswers", {}, 0);
  for (const reason of ["unknown_field", "other"]) count("unreadHeaders", { reason }, 0);
  const rules: QuorumRules = {
    quorum: providerQuorum,
    onConflict(conflict) {
      count("conflicts", {});
      log.error(conflict, "providers contradict one another");
    },
    onMinority(minority) {
      count("minorityAnswers", {});
      log.warn(minority, "an answer rests on fewer providers than a majority, as provider_quorum allows");
    },
    onUnreadHeader(header) {
      const isUnknown = header.unknownFields.length > 0;
      count("unreadHeaders", { reason: isUnknown ? "unknown_field" : "other" });
      log.error(header, "a header cannot be read: after a fork of its chain, update attestd");
    },
  };
  const sources = new Map<SourceChainKind, object>();
  for (const kind of SOURCE_CHAINS) {
    const nodes = kind.connect(config, rules);
    if (nodes) sources.set(kind, nodes);
  }
  const chain = <N extends object>(kind: SourceChainKind<N>) => sources.get(kind) as N | undefined;
  const algorand = chain(algorandChain) as AlgorandNodes;
  const rails = new Map(RAILS.map((kind) => [kind, kind.connect({ config, rules, ledger: algorand, chain })]));
  return { sources, algorand, rail: <N extends object>(kind: RailKind<N>) => rails.get(kind) as N };
}
