import type { Logger } from "pino";
import { AlgorandSource } from "../../chains/algorand/source.ts";
import { systemClock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import { openNodes } from "../../networks/nodes.ts";
import { BASE_RAIL, baseLogSpan } from "../../payment/rails/base/rail-kind.ts";
import { SOLANA_RAIL } from "../../payment/rails/solana/rail-kind.ts";
import { IndexerSearch } from "../indexer-search.ts";
import type { LedgerReading } from "../ledger.ts";
import { patiently } from "../reading.ts";
import { algorandReader } from "./algorand.ts";
import { baseReader } from "./base.ts";
import { solanaReader } from "./solana.ts";

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
  const [base, solana] = [nodes.rail(BASE_RAIL), nodes.rail(SOLANA_RAIL)];
  const ledgerReader = algorandReader(ledger);
  const readers = [
    ledgerReader,
    ...(base.rpcs.length > 0 ? [baseReader(base, ask, baseLogSpan(config))] : []),
    ...(solana.rpcs.length > 0 ? [solanaReader(solana, systemClock, ask)] : []),
  ];
  return {
    ledger,
    /** Reads payments on the ledger itself, by the ledger's rounds. */
    ledgerReader,
    /** The readers of every rail with a configured node, whether the rail is enabled or not. */
    readers: new Map(readers.map((reader) => [reader.rail, reader])),
  };
}
