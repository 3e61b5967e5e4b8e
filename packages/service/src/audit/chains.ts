import type { Logger } from "pino";
import { AlgorandSource } from "../chains/algorand/source.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { openNodes } from "../networks/nodes.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { IndexerSearch } from "./indexer-search.ts";
import type { LedgerReading } from "./ledger.ts";
import type { PaymentReader } from "./rails/rail.ts";
import { READERS } from "./rails/registry.ts";
import { patiently } from "./reading.ts";

/** The chains as an auditor reads them: nothing is sent, and nothing runs while nothing is asked. */
export type ReadableChains = {
  ledger: LedgerReading;
  /** Of every rail of which a node is configured, switched on or not. */
  readers: ReadonlyMap<RailName, PaymentReader>;
};

/** @param stop ends everything that is asked */
export function readableChains(config: Config, log: Logger, clock: Clock, stop: AbortSignal): ReadableChains {
  const nodes = openNodes(config, log);
  const { genesisHash, caip2, indexer } = config.algorand;
  const ask = patiently(clock, stop);
  const ledger: LedgerReading = {
    indexers: indexer.map((endpoint) => new IndexerSearch(endpoint)),
    rules: nodes.algorand.rules,
    genesisHash,
    source: new AlgorandSource({ nodes: nodes.algorand, caip2, accept: config.extraSourceChains }),
    ask,
  };
  const readers = READERS.flatMap((reader) => reader({ nodes, ledger, clock, ask }) ?? []);
  return { ledger, readers: new Map(readers.map((reader) => [reader.rail, reader])) };
}
