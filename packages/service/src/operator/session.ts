import pino from "pino";
import { readHistory } from "../attestor/history.ts";
import { type Config, readConfig, type Settings } from "../config/config.ts";
import type { WholeJournal } from "../journal/journal.ts";
import { openJournal, openJournalReader, requireOwner } from "../journal/open.ts";
import { REFUSED } from "../journal/reader.ts";
import type { Rounds } from "../ledger/ledger.ts";
import { timeOfRound } from "../ledger/search.ts";
import { deadline, systemClock } from "../lib/clock.ts";
import { ServiceError } from "../lib/errors.ts";
import { openLedger, openNetworks, openRounds } from "../networks/networks.ts";
import { readableChains } from "../networks/readable-chains.ts";
import { openLog } from "../observe/tracing/log.ts";
import { ownTables } from "../payment/rails/registry.ts";
import { type KeyConfig, openAccount, openSigner } from "../signers/attestor-keys.ts";
import type { Signer } from "../signers/signer.ts";

/** The options of every operator command. */
export type OperatorOptions = {
  /** Whether a ledger other than MainNet is allowed, on a loopback host. */
  sandbox: boolean;
  /** Unix s from which on chains are read; default: the attestor's first key. */
  since?: number | undefined;
  /** Aborts the command. */
  signal: AbortSignal;
};

/** How long the networks may take to show the ledger's first round, in ms. */
const DEADLINE_MS = 30_000;
/** How far the clocks of two chains may differ, in s: a payment may seem older than its subject. */
const SKEW = 600;

export type Session = Awaited<ReturnType<typeof openSession>>;

/**
 * Opens what an operator's command needs: the settings, the log, the journal's key history, and the chains for reading.
 * The rest is opened once, when the command first asks for it, and closed with the session.
 * @param mayBeOlder whether a journal that this release has not upgraded yet is accepted; nothing upgrades it
 * @throws config_invalid also when the journal belongs to another ledger; not_allowed when no service has begun it, or
 *   another release has written it; Error when it cannot be read
 */
export async function openSession(settings: Settings, options: OperatorOptions, { mayBeOlder = false } = {}) {
  const { signal, since } = options;
  const config = readConfig(settings, { ...options, own: ownTables() });
  // To stderr: stdout is the command's own.
  const log = openLog(config.logLevel, pino.destination(2));
  const history = await journalHistory();
  // The command itself reports what a signer has refused, and for which record to start it; the log would name another
  // one.
  const unsaid = log.child({}, { level: "silent" });
  const chains = readableChains(config, log, signal);
  const opened = new AsyncDisposableStack();

  return {
    config,
    /** As the journal had it when the session was opened. */
    history,
    chains,
    log,
    signal,

    /** Opens the journal for reading, even while another process has it open. */
    reader: async () => opened.use(await openJournalReader(config.database)),

    /** Opens the journal for writing. @throws Error when another process has it open */
    async journal(): Promise<WholeJournal> {
      const journal = await openJournal(config.database, log);
      opened.defer(async () => {
        await journal.release();
        await journal.close();
      });
      return journal;
    },

    /** Connects only to the ledger, with these or other settings, and waits for its first round. @throws as `signer` */
    async ledger(by: Config = config) {
      const account = opened.adopt(await openAccount(by, { log: unsaid, signal }), (one) => one.close());
      const { ledger } = opened.adopt(openLedger(by, account, log), (one) => one.close());
      await ledger.rounds.next(deadline(systemClock, DEADLINE_MS, signal));
      return { ledger, account };
    },

    /** Follows the ledger's rounds, which needs no key of the attestor. Waits for the first. */
    async rounds(): Promise<Rounds> {
      const { rounds } = opened.adopt(openRounds(config, log), (one) => one.close());
      await rounds.next(deadline(systemClock, DEADLINE_MS, signal));
      return rounds;
    },

    /** Connects to all networks, and waits for the ledger's first round. */
    async networks() {
      const ends = deadline(systemClock, DEADLINE_MS, signal);
      const account = opened.adopt(await openAccount(config, { log, signal }), (one) => one.close());
      const networks = opened.adopt(await openNetworks(config, account, log, ends), (one) => one.close());
      await networks.ledger.rounds.next(ends);
      return networks;
    },

    /** Opens the ML-DSA-65 key of these or other settings. @throws config_invalid also when they have none */
    async signer(settings: KeyConfig = config): Promise<Signer> {
      return opened.adopt(await openSigner(settings, { log: unsaid, signal }), (one) => one.close());
    },

    /** Returns the Unix s from which on the chains are read: nothing was sold before the first key. */
    async since(): Promise<number> {
      if (since !== undefined) return since;
      const round = history.keys[0]?.fromRound ?? 0;
      const time = await timeOfRound(chains.ledger, round);
      if (time !== undefined) return time - SKEW;
      const message = `The indexer does not go back to round ${round}, the attestor's first: give --since.`;
      throw new ServiceError("argument_invalid", message);
    },

    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };

  /** Reads the key history from the journal, which MUST exist already: a command creates none. */
  async function journalHistory() {
    const { genesisHash, caip2 } = config.algorand;
    await using reader = await openJournalReader(config.database);
    const schema = await reader.schema();
    const refusal = REFUSED[schema];
    if (refusal !== undefined) throw new ServiceError("not_allowed", `journal.url: ${refusal}.`);
    if (schema === "older" && !mayBeOlder)
      throw new ServiceError(
        "not_allowed",
        "journal.url: an earlier release of attestd has written this journal: start the service once, which upgrades it.",
      );
    const identity = schema === "absent" ? undefined : await reader.identity();
    if (!identity || (await reader.keys()).length === 0)
      throw new ServiceError("not_allowed", "The journal is empty: no service has begun it yet.");
    requireOwner(identity, { genesisHash });
    return await readHistory(reader, caip2);
  }
}

/** @throws journal_in_use while another replica has the journal open */
export async function requireAlone(journal: Pick<WholeJournal, "others">, refusal: string): Promise<void> {
  if ((await journal.others()) > 0) throw new ServiceError("journal_in_use", refusal);
}
