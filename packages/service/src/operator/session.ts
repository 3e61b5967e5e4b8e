import type { KeyHistory } from "@attestd/proof";
import pino, { type Logger } from "pino";
import type { KeyJournal } from "../attestor/key-journal.ts";
import { type ReadableChains, readableChains } from "../audit/chains.ts";
import { journalHistory } from "../audit/history.ts";
import { timeOfRound } from "../audit/ledger.ts";
import type { Journal } from "../calls/journal.ts";
import { deadline, systemClock } from "../clock.ts";
import { type Config, readConfig } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import { openJournal, openJournalReader } from "../journal/open.ts";
import type { JournalReader } from "../journal/reader.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Networks, openLedger, openNetworks } from "../networks/networks.ts";
import { RAIL_SETTINGS } from "../payment/rails/registry.ts";

/** The service's settings by name (docs/operations.md). */
export type Settings = Readonly<Record<string, string | undefined>>;

/** What every command of an operator takes. */
export type OperatorOptions = {
  /** Whether another ledger than MainNet is allowed, on a loopback host. */
  sandbox: boolean;
  /** Unix s from which on chains are read; the attestor's beginning unless given. */
  since?: number | undefined;
  /** Ends what is under way. */
  signal: AbortSignal;
};

/** How long the networks may take to show the ledger's first round, in ms. */
const DEADLINE_MS = 30_000;
/** How far the clocks of two chains may be apart, in s: a payment may seem to be older than what it paid for. */
const SKEW = 600;

/**
 * What an operator's command works with. Opened: the settings, the log, the journal's key history, and the chains as an
 * auditor reads them. The rest is opened when the command asks for it, once, and closed with the session.
 */
export class Session implements AsyncDisposable {
  readonly config: Config;
  readonly log: Logger;
  /** As the journal had it when the session was opened. */
  readonly history: KeyHistory;
  readonly chains: ReadableChains;
  readonly signal: AbortSignal;
  readonly #since: number | undefined;
  readonly #opened = new AsyncDisposableStack();

  private constructor(config: Config, log: Logger, history: KeyHistory, { signal, since }: OperatorOptions) {
    this.config = config;
    this.log = log;
    this.history = history;
    this.chains = readableChains(config, log, systemClock, signal);
    this.signal = signal;
    this.#since = since;
  }

  /**
   * Reads the settings, and the key history out of the journal, which MUST exist already: a command makes none.
   *
   * @throws config_invalid also when the journal is of another ledger, not_allowed when no service has begun
   *   it; Error when it cannot be read
   */
  static async open(settings: Settings, options: OperatorOptions): Promise<Session> {
    const config = readConfig(settings, { ...options, rails: RAIL_SETTINGS });
    // To stderr: stdout is the command's own.
    const log = pino({ level: config.logLevel }, pino.destination(2));
    await using reader = await openJournalReader(config.database);
    return new Session(config, log, await journalHistory(reader, config), options);
  }

  /** Opens the journal to be read, beside whatever has it open. */
  async reader(): Promise<JournalReader> {
    return this.#opened.use(await openJournalReader(this.config.database));
  }

  /** Opens the journal to be changed. @throws Error when another process has it */
  async journal(): Promise<Journal & KeyJournal> {
    const journal = await openJournal(this.config.database, this.log);
    this.#opened.defer(async () => {
      await journal.release();
      await journal.close();
    });
    return journal;
  }

  /** Connects to the ledger alone, and waits for its first round. */
  async ledger(): Promise<Ledger> {
    const { ledger, close } = openLedger(this.config, this.log, systemClock);
    this.#opened.defer(close);
    await ledger.rounds.next(this.#deadline());
    return ledger;
  }

  /** Connects to all networks, and waits for the ledger's first round. */
  async networks(): Promise<Networks> {
    const deadline = this.#deadline();
    const networks = await openNetworks(this.config, this.log, systemClock, deadline);
    this.#opened.defer(() => networks.close());
    await networks.ledger.rounds.next(deadline);
    return networks;
  }

  /** Unix s from which on the chains are read: nothing was sold before the first key. */
  async since(): Promise<number> {
    if (this.#since !== undefined) return this.#since;
    const round = this.history.keys[0]?.fromRound ?? 0;
    const time = await timeOfRound(this.chains.ledger, round);
    if (time === undefined)
      throw new ServiceError(
        "argument_invalid",
        `The indexer does not go back to round ${round}, the attestor's first: give --since.`,
      );
    return time - SKEW;
  }

  #deadline(): AbortSignal {
    return deadline(systemClock, DEADLINE_MS, this.signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
