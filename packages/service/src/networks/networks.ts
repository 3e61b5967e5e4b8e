import type { Logger } from "pino";
import { AlgorandSource } from "../chains/algorand/source.ts";
import { BaseSource } from "../chains/base/source.ts";
import { createBlockWorkers } from "../chains/block-pool.ts";
import type { BlockWork } from "../chains/block-work.ts";
import type { ChainName, SourceChain } from "../chains/chain.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { AttestorAccount } from "../ledger/account.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { RoundWatcher } from "../ledger/rounds.ts";
import type { Rail } from "../payment/rails/rail.ts";
import { openRails } from "../payment/rails/registry.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import { BASE_CHAIN_ID, type EthereumNodes } from "../providers/ethereum-rpc.ts";
import { openNodes } from "./nodes.ts";

/** Everything outside that the service reads and writes, as the settings name it. */
export type Networks = {
  ledger: Ledger;
  /** The chains whose transactions are attested. */
  chains: ReadonlyMap<ChainName, SourceChain>;
  /** Every rail that can be read, switched on or not: a payment of yesterday is known also when its rail is off. */
  rails: readonly Rail[];
  close(): Promise<void>;
};

/**
 * Connects to the networks and begins to follow the ledger's rounds.
 *
 * @throws ConfigError when USDC on Base is not the token that payers sign for; ProviderError when it cannot be read
 */
export async function openNetworks(config: Config, log: Logger, clock: Clock, signal: AbortSignal): Promise<Networks> {
  await using opened = new AsyncDisposableStack();
  const nodes = openNodes(config, log);
  const { ledger, rounds } = followLedger(config, nodes.algorand, log, clock);
  opened.defer(() => rounds.stop());
  const rails = await openRails({ config, nodes, rounds, clock, signal });
  const blockWorkers = createBlockWorkers({ maxWorkers: config.workers });
  opened.defer(() => blockWorkers.close());
  const seen = (txnId: string) => rounds.seen(txnId);
  const chains = sourceChains(config, { nodes: nodes.algorand, baseNodes: nodes.base, seen, work: blockWorkers.work });
  const closing = opened.move();
  return { ledger, chains, rails, close: () => closing.disposeAsync() };
}

/** What bundles are held against: the same chains, by clients and threads that nothing else uses. */
export type VerificationNetworks = Pick<Networks, "chains" | "close"> & {
  /** The ledger as a source. */
  ledger: SourceChain;
};

/**
 * Connects to the chains for online verification. It costs an upstream as much as a paid call and is free, so that it has
 * clients of its own, whose breakers rest for it alone, and one thread for blocks.
 */
export function openVerificationNetworks(config: Config, log: Logger): VerificationNetworks {
  const { algorand: nodes, base: baseNodes } = openNodes(config, log);
  const blockWorkers = createBlockWorkers({ maxWorkers: 1, background: true });
  const { work } = blockWorkers;
  return {
    chains: sourceChains(config, { nodes, baseNodes, work }),
    ledger: new AlgorandSource({ nodes, caip2: config.algorand.caip2, work }),
    close: () => blockWorkers.close(),
  };
}

type SourceNodes = {
  nodes: AlgorandNodes;
  baseNodes: EthereumNodes;
  /** The round of a transaction, where it was read already. */
  seen?: (txnId: string) => number | undefined;
  work: BlockWork;
};

function sourceChains(config: Config, { nodes, baseNodes, seen, work }: SourceNodes): Map<ChainName, SourceChain> {
  const accept = config.extraSourceChains;
  const algorand = new AlgorandSource({ nodes, caip2: config.algorand.caip2, accept, work, ...(seen && { seen }) });
  const chains = new Map<ChainName, SourceChain>([["algorand", algorand]]);
  if (config.base) chains.set("base", new BaseSource({ nodes: baseNodes, chainId: BASE_CHAIN_ID, accept, work }));
  return chains;
}

/**
 * Connects to the ledger alone, for an operator's command that needs nothing else.
 *
 * @returns with what ends it
 */
export function openLedger(config: Config, log: Logger, clock: Clock): { ledger: Ledger; close(): Promise<void> } {
  const { ledger, rounds } = followLedger(config, openNodes(config, log).algorand, log, clock);
  return { ledger, close: () => rounds.stop() };
}

function followLedger({ algorand, attestor }: Config, nodes: AlgorandNodes, log: Logger, clock: Clock) {
  const { genesisHash } = algorand;
  const onError = (err: unknown) => log.warn({ err }, "rounds cannot be read");
  const rounds = new RoundWatcher({ nodes, genesisHash, now: clock.now, onError });
  rounds.start();
  return { ledger: new AttestorAccount({ nodes, genesisHash, seed: attestor.seed, rounds }), rounds };
}
