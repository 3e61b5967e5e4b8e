import { checkKeyNotes, type RecordedNote } from "@attestd/proof";
import { decodeMsgpackMap, encodeAddress, getBytes, paysetReader, splitRawBlock } from "@attestd/proof/algorand";
import { keyNotePrefix } from "@attestd/proof/attestor";
import type { Logger } from "pino";
import { type Status, unavailableIf } from "../health/health.ts";
import type { NewestBlocks } from "../ledger/evidence/state-proofs.ts";
import type { Rounds } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { readHistory } from "./history.ts";
import type { KeyJournal } from "./key-journal.ts";

export type KeyNotesOptions = {
  journal: Pick<KeyJournal, "keys" | "revocations" | "announced">;
  /** CAIP-2. */
  ledger: string;
  /** The attestor's account. */
  account: string;
  rounds: Pick<Rounds, "latest" | "next">;
  newest: NewestBlocks;
  /** Reads the account's key notes from a round up to the round that it returns. @throws ProviderError */
  search(from: number, signal: AbortSignal): Promise<{ upTo: number; notes: RecordedNote[] }>;
  clock: Pick<Clock, "sleep">;
  log: Pick<Logger, "warn">;
};

/** Pause in ms before trying again, when the journal or the indexers cannot be read. */
const PAUSE_MS = 5_000;

/**
 * Checks continuously that the key history has every key note on the ledger. A journal that was restored from before a
 * rotation lacks one: every verifier that asks the ledger would reject what is sold.
 *
 * Notes from before the start come from the indexers; later ones come from the blocks that are read anyway.
 */
export function watchKeyNotes(options: KeyNotesOptions) {
  const { journal, ledger, account, rounds, newest, search, clock, log } = options;
  const notes: RecordedNote[] = [];
  /** The last round whose notes are known. */
  let readTo: number | undefined;
  /** What the history lacks, in one sentence. */
  let behind: string | undefined;
  /** Whether notes and history have ever been compared, and whether they have been since the last note. */
  let [isKnown, isCompared] = [false, false];

  /** Reads new notes and compares them with the history. @throws Error; the last result then remains */
  async function refresh(signal: AbortSignal): Promise<void> {
    const found = await readNotes(signal);
    notes.push(...found);
    if (found.length > 0) isCompared = false;
    if (!isCompared || behind !== undefined) await compare();
    [isKnown, isCompared] = [true, true];
  }

  async function readNotes(signal: AbortSignal): Promise<RecordedNote[]> {
    const latest = rounds.latest();
    const found = readTo === undefined ? undefined : notesInBlocks(readTo + 1, latest);
    if (found) {
      readTo = latest;
      return found;
    }
    const from = readTo === undefined ? 0 : readTo + 1;
    const read = await search(from, signal);
    readTo = Math.max(read.upTo, from - 1);
    return read.notes;
  }

  /** Returns the notes in the blocks of some rounds; undefined when one of these blocks is no longer in memory. */
  function notesInBlocks(first: number, last: number): RecordedNote[] | undefined {
    const found: RecordedNote[] = [];
    for (let round = first; round <= last; round++) {
      const block = newest.block(round);
      if (block === undefined) return undefined;
      found.push(...keyNotesIn(block, { round, ledger, account }));
    }
    return found;
  }

  /**
   * Compares notes and history. The journal is read after the notes: a change is announced in the journal before its
   * note is submitted.
   */
  async function compare(): Promise<void> {
    const announced = await journal.announced();
    const history = await readHistory(journal, ledger);
    const own = announced?.attempt.txid;
    const [finding] = checkKeyNotes(
      history,
      notes.filter(({ txid }) => txid !== own),
    );
    const remedy = 'Restore the history with "attestd keys restore"';
    behind = finding && `key_history_behind: ${finding.message}. ${remedy}.`;
  }

  return {
    refresh,
    /** Refuses sales while the history lacks a note, and before the notes are read. */
    status(): Status {
      if (!isKnown)
        return unavailableIf("providers_unavailable", "The key notes on the ledger have not been read yet.");
      return unavailableIf("attestor_key_unusable", behind);
    },

    /** Refreshes with each round, until `stop`. Never rejects. */
    async run(stop: AbortSignal): Promise<void> {
      while (!stop.aborted) {
        try {
          await refresh(stop);
          await rounds.next(stop);
        } catch (err) {
          if (stop.aborted) return;
          log.warn({ err }, "the key notes on the ledger cannot be read");
          await clock.sleep(PAUSE_MS, stop).catch(() => undefined);
        }
      }
    },
  };
}

/**
 * Finds an account's key notes in a block.
 * @param block `{block, cert}` in msgpack
 * @param of.ledger CAIP-2
 */
export function keyNotesIn(
  block: Uint8Array,
  { round, ledger, account }: { round: number; ledger: string; account: string },
): RecordedNote[] {
  const prefix = keyNotePrefix(ledger);
  // Few blocks contain the prefix's bytes, and searching is much cheaper than decoding.
  if (!hasText(block, prefix)) return [];
  const { header, entries } = splitRawBlock(block);
  const reader = paysetReader(header);
  return entries
    .filter(({ txn }) => hasText(txn, prefix))
    .flatMap((entry) => {
      const transaction = decodeMsgpackMap(reader.transaction(entry));
      const sender = encodeAddress(getBytes(transaction, "snd", 32) ?? new Uint8Array(32));
      const note = Buffer.from(getBytes(transaction, "note") ?? []).toString();
      return sender === account && note.startsWith(prefix) ? [{ txid: reader.txid(entry), round, sender, note }] : [];
    });
}

function hasText(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(text);
}
