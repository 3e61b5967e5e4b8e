import type { Logger } from "pino";
import { type CopiedJournal, mayBeBehind } from "../calls/copied.ts";
import type { Journal } from "../calls/journal.ts";
import type { Config } from "../config/config.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { type AttestationSearchOptions, searchAttestations } from "./find-attestation.ts";
import { attestorNotes } from "./ledger.ts";
import { readableChains } from "./rails/registry.ts";

/** How far the clocks of host and ledger may be apart, in s. */
const SKEW = 600;

export type CopiedCallsOptions = Pick<AttestationSearchOptions, "rounds" | "signal"> & {
  journal: Pick<Journal, "open"> & Pick<CopiedJournal, "copiedUntil">;
  /** Of the attestor. */
  address: string;
  log: Logger;
};

/**
 * Finds the attestations of calls that a journal has out of a copy: each may have been carried on before the journal was put
 * back.
 *
 * @returns the attestation of a call's payment; undefined when the ledger has none and gets none any more, for which up to
 *   100 rounds have to pass. Undefined itself when the journal has no such call
 */
export async function copiedCalls(
  config: Config,
  { journal, address, rounds, log, signal }: CopiedCallsOptions,
): Promise<((key: string) => Promise<Attempt | undefined>) | undefined> {
  const until = await journal.copiedUntil();
  if (until === undefined) return undefined;
  const calls = (await journal.open()).filter((call) => mayBeBehind(call, until));
  if (calls.length === 0) return undefined;
  log.warn({ calls: calls.length }, "the journal was put back from a copy: its open calls may be attested for already");
  const chains = readableChains(config, log, signal);
  const find = searchAttestations(
    calls.map(({ key }) => key),
    {
      reader: chains.ledgerReader,
      since: Math.min(...calls.map(({ createdAt }) => createdAt)) / 1000 - SKEW,
      notes: (span) => attestorNotes(chains.ledger, [address], span),
      attestor: { algorandAddress: address },
      rounds,
      signal,
      onWait: (round) => log.info({ round }, "until then an attestation of a call of before the copy may still come"),
    },
  );
  return async (key) => (await find(key))?.attempt;
}
