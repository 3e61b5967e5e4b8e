import type { FormatError } from "@attestd/proof/format";
import { checkKeyNotes, type RecordedNote, requireContinuation } from "@attestd/proof/keys";
import type { KeyHistory } from "@attestd/proof/trust";
import pino, { type Logger } from "pino";
import { readHistory } from "../attestor/history.ts";
import type { KeyRecord } from "../attestor/key-journal.ts";
import {
  type KeyChange,
  type KeyChangeOptions,
  KeyChangeRefused,
  revokeKey as revoke,
  rotateKey as rotate,
} from "../attestor/key-records.ts";
import { seedSigner } from "../attestor/signer.ts";
import { attestorNotes } from "../audit/algorand.ts";
import { readableChains } from "../audit/chains.ts";
import { journalHistory } from "../audit/history.ts";
import { Refused } from "../audit/refused.ts";
import { liveAttempt } from "../calls/call.ts";
import type { Journal } from "../calls/journal.ts";
import { isFinal } from "../calls/machine.ts";
import { systemClock } from "../clock.ts";
import { type Config, readConfig } from "../config/config.ts";
import { openJournal, openJournalReader } from "../journal/open.ts";
import { openLedger } from "../networks/networks.ts";
import type { OperatorOptions } from "./operator.ts";

type Settings = Readonly<Record<string, string | undefined>>;

/** What came of a change of the keys. */
export type KeyChangeReport = {
  /** Id of the note on the ledger; absent where the change had been made before. */
  txid?: string;
  /** As it is from now on. */
  history: KeyHistory;
};

/** How long the ledger may take to show its first round, in ms. */
const DEADLINE_MS = 30_000;

/**
 * Reads the key history out of the journal, beside whatever has it open.
 *
 * @throws ConfigError when it is of another ledger; Refused when it has not begun; Error when it cannot be read
 */
export async function readKeyHistory(settings: Settings, options: OperatorOptions): Promise<KeyHistory> {
  return historyIn(readConfig(settings, options));
}

/**
 * Replaces the attestor's key. Broken off, the same call goes on where it was.
 *
 * @param next.seed gives the new key's seed, 32 bytes, once it is kept; asked for when the settings and the journal fit
 * @throws ConfigError, KeyChangeRefused, Refused, ProviderError; Error when the journal cannot be opened
 */
export async function rotateKey(
  settings: Settings,
  next: { seed(): Promise<Uint8Array>; onWait(round: number): void },
  options: OperatorOptions,
): Promise<KeyChangeReport> {
  return withKeys(settings, options, next.onWait, async ({ attestor, publicUrl }, changing) => {
    const keys = { current: seedSigner(attestor.pqSeed), next: seedSigner(await next.seed()), origin: publicUrl };
    return rotate(keys, changing);
  });
}

/**
 * Revokes a key of the attestor. Broken off, the same call goes on where it was.
 *
 * @param what.round from which on nothing by the key counts; the next unless given
 * @throws as `rotateKey`
 */
export async function revokeKey(
  settings: Settings,
  what: { kid: string; round: number | undefined; onWait(round: number): void },
  options: OperatorOptions,
): Promise<KeyChangeReport> {
  return withKeys(settings, options, what.onWait, (_config, changing) => revoke(what.kid, what.round, changing));
}

/**
 * Puts what a saved history has, and the journal lacks, back into the journal, after a backup was restored that is older
 * than a change of the keys. Nothing is believed that the ledger has no note of.
 *
 * @param saved as `parseKeyHistory` gave it
 * @returns the history as it is from now on
 * @throws as `rotateKey`; Refused also when the saved history does not continue the journal's, or not fit the ledger
 */
export async function restoreKeys(
  settings: Settings,
  saved: KeyHistory,
  options: OperatorOptions,
): Promise<KeyHistory> {
  const config = readConfig(settings, options);
  const known = await historyIn(config);
  try {
    requireContinuation(known, saved);
  } catch (error) {
    throw refusal("It does not continue the journal's", error as FormatError);
  }
  const { ledger, readers } = readableChains(config, logger(config), systemClock, options.signal);
  const heads = await readers.get("algorand")?.heads();
  const span = { from: known.keys[0]?.fromRound ?? 0, to: heads?.latest ?? 0 };
  const notes: RecordedNote[] = [];
  for (const address of new Set(saved.keys.map(({ algorandAddress }) => algorandAddress)))
    for await (const { note, ...one } of attestorNotes(ledger, address, span))
      if (note !== undefined) notes.push({ ...one, note });
  const [finding] = checkKeyNotes(saved, notes);
  if (finding) throw refusal("It does not fit the ledger", finding);

  const journal = await openJournal(config.database, logger(config));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => release(journal));
  const others = await journal.others();
  if (others > 0) throw new KeyChangeRefused("journal_in_use", "Another replica has this journal open.");
  for (const { untilRound: _, revokedRound: __, ...entry } of saved.keys) await journal.appendKey(entry);
  for (const { kid, revokedRound } of saved.keys)
    if (revokedRound !== undefined) await journal.appendRevocation({ kid, revokedRound });
  // The backup may be of the time between: what was announced then is in the history now.
  const standing = await journal.announced();
  if (standing && hasRecord(saved, standing.record)) await journal.conclude(standing.attempt.txid, "noted");
  return await readHistory(journal, saved.ledger);
}

function hasRecord({ keys }: KeyHistory, record: KeyRecord): boolean {
  if (record.kind === "key") return keys.some(({ kid }) => kid === record.entry.kid);
  return keys.some(({ kid, revokedRound }) => kid === record.kid && revokedRound === record.revokedRound);
}

function refusal(what: string, { pointer, message }: { pointer?: string; message?: string }): Refused {
  return new Refused("not_allowed", `${what}: ${pointer}: ${message}.`);
}

/** Opens what changing the keys takes, the journal and the ledger, and gives it up again. */
async function withKeys(
  settings: Settings,
  options: OperatorOptions,
  onWait: (round: number) => void,
  change: (config: Config, options: KeyChangeOptions) => Promise<KeyChange>,
): Promise<KeyChangeReport> {
  const config = readConfig(settings, options);
  // Read first, so that a journal which is not there is not made.
  await historyIn(config);
  await using opened = new AsyncDisposableStack();
  const journal = await openJournal(config.database, logger(config));
  opened.defer(() => release(journal));
  const { ledger, close } = openLedger(config, logger(config), systemClock);
  opened.defer(close);
  await ledger.rounds.next(AbortSignal.any([options.signal, AbortSignal.timeout(DEADLINE_MS)]));
  const { txid } = await change(config, {
    journal,
    ledger,
    onWait,
    signal: options.signal,
    async unfinished() {
      const calls = await journal.open();
      return calls.filter((call) => !isFinal(call.state) && liveAttempt(call)).length;
    },
  });
  const history = await readHistory(journal, ledger.caip2);
  return { ...(txid !== undefined && { txid }), history };
}

async function release(journal: Journal): Promise<void> {
  await journal.release();
  await journal.close();
}

/** To stderr: stdout is the command's own. */
function logger({ logLevel }: Config): Logger {
  return pino({ level: logLevel }, pino.destination(2));
}

async function historyIn(config: Config): Promise<KeyHistory> {
  await using journal = await openJournalReader(config.database);
  return await journalHistory(journal, config);
}
