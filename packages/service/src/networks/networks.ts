import type { Logger } from "pino";
import { AlgorandSource } from "../chains/algorand/source.ts";
import { BaseSource } from "../chains/base/source.ts";
import { createBlockWorkers } from "../chains/block-pool.ts";
import type { BlockWork } from "../chains/block-work.ts";
import type { ChainName, SourceChain } from "../chains/chain.ts";
import type { Clock } from "../clock.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { AttestorAccount } from "../ledger/account.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { RoundWatcher } from "../ledger/rounds.ts";
import { algorandRail } from "../payment/rails/algorand/rail.ts";
import { BASE_USDC, baseRail } from "../payment/rails/base/rail.ts";
import { readTokenDomain } from "../payment/rails/base/usdc-contract.ts";
import type { Rail } from "../payment/rails/rail.ts";
import { solanaRail } from "../payment/rails/solana/rail.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import type { EthereumNodes } from "../providers/ethereum-rpc.ts";
import { BASE_CHAIN_ID, openNodes } from "./nodes.ts";

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
  const { algorand: nodes, base: baseNodes, solana: solanaNodes } = openNodes(config, log);
  const domain = await usdcDomain(config, baseNodes, signal);

  const { ledger, rounds } = followLedger(config, nodes, log, clock);
  const { genesisHash } = ledger;
  const blockWorkers = createBlockWorkers({ most: config.workers });
  const seen = (txnId: string) => rounds.seen(txnId);
  const chains = sourceChains(config, { nodes, baseNodes, seen, work: blockWorkers.work });
  const { limits } = config;
  const maxLifeSeconds = limits.lifeSeconds;
  const solanaLimits = { computeUnits: limits.solanaComputeUnits, microLamports: limits.solanaComputeUnitPrice };
  return {
    ledger,
    chains,
    rails: [
      algorandRail({ genesisHash, nodes, rounds, maxLifeSeconds, maxFee: limits.algorandFee }),
      baseRail({ nodes: baseNodes, domain, maxLifeSeconds, maxSignatureGas: limits.baseSignatureGas, clock }),
      solanaRail({ nodes: solanaNodes, limits: solanaLimits, clock }),
    ],
    async close() {
      await Promise.all([rounds.stop(), blockWorkers.close()]);
    },
  };
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
  const blockWorkers = createBlockWorkers({ most: 1, background: true });
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

const REAL_USDC = { name: "USD Coin", version: "2" };

/** The EIP-712 domain of USDC on Base, which payers sign under. The sandbox's token must have, and has, another name. */
async function usdcDomain(config: Config, nodes: EthereumNodes, signal: AbortSignal) {
  if (!config.rails.base) return REAL_USDC;
  const domain = await readTokenDomain(nodes, BASE_USDC, signal);
  const isReal = domain.name === REAL_USDC.name && domain.version === REAL_USDC.version;
  const named = `${BASE_USDC} calls itself "${domain.name}", version "${domain.version}"`;
  if (!config.sandbox && !isReal) throw new ConfigError(`BASE_RPC_URL is not of Base: its token at ${named}.`);
  if (config.sandbox && isReal) throw new ConfigError(`BASE_RPC_URL is not of a sandbox: its token at ${named}.`);
  return domain;
}
