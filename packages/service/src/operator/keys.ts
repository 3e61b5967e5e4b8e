import {
  checkKeyNotes,
  type KeyHistory,
  type ProofError,
  type RecordedNote,
  requireContinuation,
} from "@attestd/proof";
import { readHistory } from "../attestor/history.ts";
import type { KeyRecord } from "../attestor/key-journal.ts";
import {
  type KeyChange,
  type KeyChangeOptions,
  revokeKey as revoke,
  rotateKey as rotate,
} from "../attestor/key-records.ts";
import { liveAttempt } from "../calls/call.ts";
import { isFinal, isUnpaid } from "../calls/machine.ts";
import { type Config, readConfig, type Settings } from "../config/config.ts";
import type { Table } from "../config/settings-file.ts";
import { attestorNotes } from "../ledger/search.ts";
import { ServiceError } from "../lib/errors.ts";
import { ownTables } from "../payment/rails/registry.ts";
import { type OperatorOptions, openSession, requireAlone, type Session } from "./session.ts";

/** The result of a change of the keys. */
export type KeyChangeReport = {
  /** Id of the note on the ledger; absent if the change had been made before. */
  txid?: string;
  /** The history from now on. */
  history: KeyHistory;
};

/**
 * Reads the key history from the journal, even while another process has it open.
 * @throws config_invalid when it belongs to another ledger; not_allowed when it has not begun; Error when it cannot be
 *   read
 */
export async function readKeyHistory(settings: Settings, options: OperatorOptions): Promise<KeyHistory> {
  await using session = await openSession(settings, options);
  return session.history;
}

/**
 * Replaces the attestor's key. After an interruption, the same call continues.
 * @param next.attestor gives the table `[attestor]` of the next key, once that is saved; called with the current one when
 *   the settings and the journal fit. References in it MUST NOT be relative
 * @param next.fromRound the first round of the next key; default: some ten rounds from now
 * @throws ServiceError; Error when the journal cannot be opened
 */
export async function rotateKey(
  settings: Settings,
  next: { attestor(current: Table): Promise<Table>; onWait(round: number): void; fromRound?: number | undefined },
  options: OperatorOptions,
): Promise<KeyChangeReport> {
  return withKeys(settings, options, next.onWait, async ({ config, signer }, changing) => {
    const current = await signer();
    const changed = await nextConfig(settings, next, options);
    const { fromRound } = next;
    return rotate({ current, next: await signer(changed), origin: config.publicUrl, fromRound }, changing);
  });
}

/** Reads the settings with the next table `[attestor]`. @throws config_invalid */
export async function nextConfig(
  settings: Settings,
  next: { attestor(current: Table): Promise<Table> },
  options: OperatorOptions,
): Promise<Config> {
  const attestor = await next.attestor((settings.tables.attestor ?? {}) as Table);
  const tables = { ...settings.tables, attestor };
  return readConfig({ ...settings, tables }, { ...options, own: ownTables(), signs: true });
}

/**
 * Revokes a key of the attestor. After an interruption, the same call continues.
 * @param what.round from which on the key does not count; default: the next round
 * @throws as `rotateKey`
 */
export async function revokeKey(
  settings: Settings,
  what: { kid: string; round: number | undefined; onWait(round: number): void },
  options: OperatorOptions,
): Promise<KeyChangeReport> {
  return withKeys(settings, options, what.onWait, (_session, changing) => revoke(what.kid, what.round, changing));
}

/**
 * Restores to the journal what a saved history has and the journal lacks, after the restore of a backup from before a
 * change of the keys. It accepts nothing without a note on the ledger.
 * @param saved from `parseKeyHistory`
 * @returns the history from now on
 * @throws as `rotateKey`; not_allowed when the saved history does not continue the journal's or does not fit the ledger
 */
export async function restoreKeys(
  settings: Settings,
  saved: KeyHistory,
  options: OperatorOptions,
): Promise<KeyHistory> {
  await using session = await openSession(settings, options);
  const known = session.history;
  try {
    requireContinuation(known, saved);
  } catch (error) {
    throw refusal("It does not continue the journal's", error as ProofError);
  }
  const { ledger, ledgerHeights } = session.chains;
  const { latest } = await ledgerHeights.heads();
  const span = { from: known.keys[0]?.fromRound ?? 0, to: latest };
  const notes: RecordedNote[] = [];
  const accounts = new Set(saved.keys.map(({ algorandAddress }) => algorandAddress));
  for await (const { note, ...one } of attestorNotes(ledger, accounts, span))
    if (note !== undefined) notes.push({ ...one, note });
  const [finding] = checkKeyNotes(saved, notes);
  if (finding) throw refusal("It does not fit the ledger", finding);

  const journal = await session.journal();
  await requireAlone(journal, "Another replica has this journal open.");
  for (const { untilRound: _, revokedRound: __, ...entry } of saved.keys) await journal.appendKey(entry);
  for (const { kid, revokedRound } of saved.keys)
    if (revokedRound !== undefined) await journal.appendRevocation({ kid, revokedRound });
  // The backup may be from during the change: what was announced then is in the history now.
  const announced = await journal.announced();
  if (announced && hasRecord(saved, announced.record)) await journal.conclude(announced.attempt.txid, "noted");
  return await readHistory(journal, saved.ledger);
}

function hasRecord({ keys }: KeyHistory, record: KeyRecord): boolean {
  if (record.kind === "key") return keys.some(({ kid }) => kid === record.entry.kid);
  return keys.some(({ kid, revokedRound }) => kid === record.kid && revokedRound === record.revokedRound);
}

function refusal(what: string, { pointer, message }: { pointer?: string; message?: string }): ServiceError {
  return new ServiceError("not_allowed", `${what}: ${pointer}: ${message}.`);
}

/** Changes the keys in the journal and on the ledger. */
async function withKeys(
  settings: Settings,
  options: OperatorOptions,
  onWait: (round: number) => void,
  change: (session: Session, options: KeyChangeOptions) => Promise<KeyChange>,
): Promise<KeyChangeReport> {
  await using session = await openSession(settings, options);
  const journal = await session.journal();
  const { ledger } = await session.ledger();
  const { txid } = await change(session, {
    journal,
    ledger,
    onWait,
    signal: options.signal,
    async unfinished() {
      let unfinished = 0;
      for (const { key, state } of await journal.open()) {
        if (isUnpaid(state) || isFinal(state)) continue;
        const call = await journal.find(key);
        if (call && !isFinal(call.state) && liveAttempt(call)) unfinished += 1;
      }
      return unfinished;
    },
  });
  const history = await readHistory(journal, ledger.caip2);
  return { ...(txid !== undefined && { txid }), history };
}
