import type { Logger } from "pino";
import { algorandChain } from "../chains/algorand/chain-kind.ts";
import { AlgorandSource } from "../chains/algorand/source.ts";
import { type BlockWorkers, createBlockWorkers, type RunWork } from "../chains/block-work.ts";
import type { SourceChains } from "../chains/chain.ts";
import type { ChainOptions } from "../chains/chain-kind.ts";
import type { Config } from "../config/config.ts";
import { watchCongestion } from "../health/congestion.ts";
import { watchWitnesses } from "../health/witnesses.ts";
import { AttestorAccount } from "../ledger/account.ts";
import { ROUND_WORK } from "../ledger/round-reader.ts";
import { RoundWatcher } from "../ledger/rounds.ts";
import { systemClock } from "../lib/clock.ts";
import { openRails } from "../payment/rails/registry.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import { hostClock } from "../providers/host-clock.ts";
import type { AccountSigner } from "../signers/signer.ts";
import { type Nodes, openNodes } from "./nodes.ts";

/**
 * Connects to all upstreams that the settings name, and starts following the ledger's rounds.
 * @throws as `open` of a rail
 */
export async function openNetworks(config: Config, account: AccountSigner, log: Logger, signal: AbortSignal) {
  await using opened = new AsyncDisposableStack();
  const nodes = openNodes(config, log);
  const blockWorkers = createBlockWorkers({ maxWorkers: config.workers });
  opened.defer(() => blockWorkers.close());
  const run = blockWorkers.run(ROUND_WORK);
  const { ledger, rounds } = followLedger(config, account, nodes.algorand, log, run);
  opened.defer(() => rounds.stop());
  const rails = await openRails(nodes.rail, { config, rounds, clock: systemClock, signal });
  const chains = openChains(config, nodes, blockWorkers, {
    locate: (txnId, ends) => rounds.search(txnId, ends),
    readBlock: (round) => rounds.block(round),
  });
  const closing = opened.move();
  const witnesses = nodes.sources.entries().map(([kind, own]) => {
    const watch = watchWitnesses(kind.witnesses(own), nodes.algorand.rules, Date.now);
    return { name: `witnesses of ${kind.format.name}`, ...watch };
  });
  const congestion = watchCongestion(nodes.algorand);
  return {
    ledger,
    /** The chains whose transactions are attested. */
    chains,
    /**
     * Every rail that can be read, enabled or not: an earlier payment is recognized even when its rail is disabled now.
     */
    rails,
    /** A watch on each source chain's nodes, with a name. */
    witnesses: [...witnesses],
    congestion,
    /** The ledger's newest blocks. */
    newest: rounds,
    /** The load of the workers that process blocks. */
    blockLoad: blockWorkers.load,
    close: () => closing.disposeAsync(),
  };
}

/**
 * Connects to the chains for online verification. It is free and costs an upstream as much as a paid call: so it has
 * its own clients, whose open breakers stop nothing else, and one thread for blocks.
 * @returns `ledger`: as a source
 */
export function openVerificationNetworks(config: Config, log: Logger) {
  const nodes = openNodes(config, log);
  const blockWorkers = createBlockWorkers({ maxWorkers: 1, background: true });
  const { caip2 } = config.algorand;
  return {
    chains: openChains(config, nodes, blockWorkers),
    ledger: new AlgorandSource({ nodes: nodes.algorand, caip2, run: blockWorkers.run(algorandChain.work) }),
    close: () => blockWorkers.close(),
  };
}

function openChains(
  config: Config,
  { sources }: Nodes,
  workers: BlockWorkers,
  read: Pick<ChainOptions, "locate" | "readBlock"> = {},
): SourceChains {
  const chains = sources.entries().map(([kind, nodes]) => {
    return [kind.format.name, kind.open(nodes, config, { ...read, run: workers.run(kind.work) })] as const;
  });
  return new Map(chains);
}

/** Connects only to the ledger, for an operator's command that needs nothing else. */
export function openLedger(config: Config, account: AccountSigner, log: Logger) {
  const { ledger, rounds } = followLedger(config, account, openNodes(config, log).algorand, log);
  return { ledger, close: () => rounds.stop() };
}

/** Follows the ledger's rounds, for an operator's command that signs nothing. */
export function openRounds(config: Config, log: Logger) {
  const rounds = followRounds(config, openNodes(config, log).algorand, log);
  return { rounds, close: () => rounds.stop() };
}

/**
 * Starts following the ledger's rounds with existing clients.
 * @param run where large blocks are processed
 */
export function followLedger(config: Config, signer: AccountSigner, nodes: AlgorandNodes, log: Logger, run?: RunWork) {
  const { algorand, attestor } = config;
  const rounds = followRounds(config, nodes, log, run);
  const { genesisHash } = algorand;
  return { ledger: new AttestorAccount({ nodes, genesisHash, signer, address: attestor.address, rounds }), rounds };
}

function followRounds({ algorand }: Config, nodes: AlgorandNodes, log: Logger, run?: RunWork): RoundWatcher {
  const onError = (err: unknown) => log.warn({ err }, "rounds cannot be read");
  const { genesisHash } = algorand;
  const onBlock = (time: number) => hostClock.noteBlock("algorand's blocks", time);
  const rounds = new RoundWatcher({ nodes, genesisHash, now: Date.now, onBlock, onError, ...(run && { run }) });
  rounds.start();
  return rounds;
}
