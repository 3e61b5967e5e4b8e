import type { Logger } from "pino";
import { AlgorandSource } from "../chains/algorand/source.ts";
import type { Config } from "../config/config.ts";
import { type LedgerReading, ledgerHeights } from "../ledger/search.ts";
import { systemClock } from "../lib/clock.ts";
import type { PaymentReader } from "../payment/rails/payment-reader.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { RAILS } from "../payment/rails/registry.ts";
import { IndexerSearch } from "../providers/indexer-search.ts";
import { patiently } from "../providers/reading.ts";
import { openNodes } from "./nodes.ts";

/**
 * Opens the chains for an auditor: nothing is sent, and nothing runs between questions.
 * @param stop ends everything that is asked
 */
export function readableChains(config: Config, log: Logger, stop: AbortSignal) {
  const nodes = openNodes(config, log);
  const { genesisHash, caip2, indexer } = config.algorand;
  const ask = patiently(systemClock, stop);
  const ledger: LedgerReading = {
    indexers: indexer.map((endpoint) => new IndexerSearch(endpoint)),
    rules: nodes.algorand.rules,
    genesisHash,
    source: new AlgorandSource({ nodes: nodes.algorand, caip2, accept: config.extraSourceChains }),
    ask,
  };
  const context = { config, ledger, ask, clock: systemClock };
  const readers = RAILS.flatMap((kind): [RailName, PaymentReader][] => {
    const reader = kind.reader(nodes.rail(kind), context);
    return reader ? [[kind.name, reader]] : [];
  });
  return {
    ledger,
    ledgerHeights: ledgerHeights(ledger),
    /** The readers of every rail with a configured node, whether the rail is enabled or not. */
    readers: new Map(readers),
  };
}
