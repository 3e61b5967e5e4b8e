import { algorandCaip2 } from "@attestd/proof/caip2";
import { fromBase64 } from "@attestd/proof/encoding";
import type { Logger } from "pino";
import { AlgorandSource } from "../chains/algorand/source.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { Algod, Indexer } from "../providers/algorand.ts";
import { BaseRpc } from "../providers/base.ts";
import type { QuorumRules } from "../providers/quorum.ts";
import { SolanaRpc } from "../providers/solana.ts";
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

const BASE_CHAIN_ID = 8453;

/** @param stop ends everything that is asked */
export function readableChains(
  { algorand, base, solana, extraSourceChains, providerQuorum }: Config,
  log: Logger,
  clock: Clock,
  stop: AbortSignal,
): ReadableChains {
  const rules: QuorumRules = {
    ...(providerQuorum !== undefined && { quorum: providerQuorum }),
    onConflict: (conflict) => log.error(conflict, "providers contradict one another"),
  };
  const ask = patiently(clock, stop);
  const { genesisHash } = algorand;
  const nodes = {
    algods: algorand.algod.map((endpoint) => new Algod(endpoint, genesisHash)),
    indexers: algorand.indexer.map((endpoint) => new Indexer(endpoint)),
    rules,
  };
  const caip2 = algorandCaip2(fromBase64(genesisHash));
  const ledger: AlgorandReading = {
    indexers: algorand.indexer.map((endpoint) => new IndexerSearch(endpoint)),
    rules,
    genesisHash,
    source: new AlgorandSource({ nodes, caip2, accept: extraSourceChains }),
    ask,
  };
  const readers = [algorandReader(ledger)];
  if (base) readers.push(baseReader({ rpcs: base.rpc.map((rpc) => new BaseRpc(rpc, BASE_CHAIN_ID)), rules }, ask));
  if (solana) readers.push(solanaReader({ rpcs: solana.rpc.map((rpc) => new SolanaRpc(rpc)), rules }, clock, ask));
  return { ledger, readers: new Map(readers.map((reader) => [reader.rail, reader])) };
}
