import type { Logger } from "pino";
import type { SearchOf } from "../calls/copied.ts";
import type { Config } from "../config/config.ts";
import { attestorNotes } from "../ledger/search.ts";
import { readableChains } from "../networks/readable-chains.ts";
import { type AttestationSearchOptions, searchAttestations } from "./find-attestation.ts";

/** How far the clocks of host and ledger may differ, in s. */
const SKEW = 600;

export type LedgerSearchOptions = Pick<AttestationSearchOptions, "rounds" | "signal"> & {
  /** The attestor's address. */
  address: string;
  log: Logger;
};

/** Makes the search of the ledger for attestations of calls from a restored journal (calls/copied.ts). */
export function ledgerSearch(config: Config, { address, rounds, log, signal }: LedgerSearchOptions): SearchOf {
  return (calls) => {
    log.warn({ calls: calls.length }, "the journal may lack commits: its open calls may already be attested");
    const chains = readableChains(config, log, signal);
    const find = searchAttestations(
      calls.map(({ key }) => key),
      {
        reader: chains.ledgerHeights,
        since: Math.min(...calls.map(({ createdAt }) => createdAt)) / 1000 - SKEW,
        notes: (span) => attestorNotes(chains.ledger, [address], span),
        attestor: { algorandAddress: address },
        rounds,
        signal,
        onWait: (round) =>
          log.info({ round }, "until then an attestation for a call from before the copy may still come"),
      },
    );
    return async (key) => (await find(key))?.attempt;
  };
}
