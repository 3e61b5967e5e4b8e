import type { Logger } from "pino";
import { AlgorandSource } from "../chains/algorand/source.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { openNodes } from "../networks/nodes.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { type AlgorandReading, algorandReader } from "./algorand.ts";
import { baseReader } from "./base.ts";
import { IndexerSearch } from "./indexer-search.ts";
import { type PaymentReader, patiently } from "./reading.ts";
import { solanaReader } from "./solana.ts";

/** The chains as an auditor reads them: nothing is sent, and nothing runs while nothing is asked. */
export type ReadableChains = {
  ledger: AlgorandReading;
  /** Of every rail of which a node is configured, switched on or not. */
  readers: ReadonlyMap<RailName, PaymentReader>;
};

/** @param stop ends everything that is asked */
export function readableChains(config: Config, log: Logger, clock: Clock, stop: AbortSignal): ReadableChains {
  const { algorand, base, solana } = openNodes(config, log);
  const { genesisHash, caip2, indexer } = config.algorand;
  const ask = patiently(clock, stop);
  const ledger: AlgorandReading = {
    indexers: indexer.map((endpoint) => new IndexerSearch(endpoint)),
    rules: algorand.rules,
    genesisHash,
    source: new AlgorandSource({ nodes: algorand, caip2, accept: config.extraSourceChains }),
    ask,
  };
  const readers = [algorandReader(ledger)];
  if (config.base) readers.push(baseReader(base, ask));
  if (config.solana) readers.push(solanaReader(solana, clock, ask));
  return { ledger, readers: new Map(readers.map((reader) => [reader.rail, reader])) };
}
