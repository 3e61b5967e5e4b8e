import { checkKeyNotes, type RecordedNote } from "@attestd/proof";
import { decodeMsgpackMap, encodeAddress, getBytes, paysetReader, splitRawBlock } from "@attestd/proof/algorand";
import { keyNotePrefix } from "@attestd/proof/attestor";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { type Status, unavailableIf } from "../health/health.ts";
import type { NewestBlocks } from "../ledger/evidence/state-proofs.ts";
import type { Rounds } from "../ledger/ledger.ts";
import { readHistory } from "./history.ts";
import type { KeyJournal } from "./key-journal.ts";

export type KeyNotesOptions = {
  journal: Pick<KeyJournal, "keys" | "revocations" | "announced">;
  /** CAIP-2. */
  ledger: string;
  /** Of the attestor. */
  account: string;
  rounds: Pick<Rounds, "latest" | "next">;
  newest: NewestBlocks;
  /** Reads the account's key notes from a round on, up to a round that it names. @throws ProviderError */
  search(from: number, signal: AbortSignal): Promise<{ upTo: number; notes: RecordedNote[] }>;
  clock: Pick<Clock, "sleep">;
  log: Pick<Logger, "warn">;
};

/** Pause before another try, in ms, where the journal or the indexers cannot be read. */
const PAUSE_MS = 5_000;

/**
 * Watches whether the key history has every key note on the ledger. A journal that was restored from before a rotation
 * lacks one: every verifier who asks the ledger would then reject what is sold.
 *
 * The notes of before the start are read from the indexers, and those that come from the blocks that are read anyway.
 */
export function watchKeyNotes(options: KeyNotesOptions) {
  const { journal, ledger, account, rounds, newest, search, clock, log } = options;
  const notes: RecordedNote[] = [];
  /** The last round whose notes are known. */
  let readTo: number | undefined;
  /** What the history lacks, as a sentence. */
  let behind: string | undefined;
  /** Whether the notes and the history have been compared once, and since the last note came. */
  let [isKnown, isCompared] = [false, false];

  /** Reads the notes that have come, and compares them with the history. @throws Error; the last result then stands */
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

  /** Returns the notes in the blocks of some rounds; undefined when one of these blocks is not at hand any more. */
  function notesInBlocks(first: number, last: number): RecordedNote[] | undefined {
    const found: RecordedNote[] = [];
    for (let round = first; round <= last; round++) {
      const block = newest.block(round);
      if (block === undefined) return undefined;
      found.push(...keyNotesIn(block, { round, ledger, account }));
    }
    return found;
  }

  /** The journal is read after the notes: what notes a change was announced in the journal before it was submitted. */
  async function compare(): Promise<void> {
    const announced = await journal.announced();
    const history = await readHistory(journal, ledger);
    const own = announced?.attempt.txid;
    const [finding] = checkKeyNotes(
      history,
      notes.filter(({ txid }) => txid !== own),
    );
    const remedy = 'Restore the history by "attestd keys restore"';
    behind = finding && `key_history_behind: ${finding.message}. ${remedy}.`;
  }

  return {
    refresh,
    /** Nothing may be sold under a history that lacks a note, or before the notes were read. */
    status(): Status {
      if (!isKnown) return unavailableIf("providers_unavailable", "The ledger's notes of keys have not been read yet.");
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
          log.warn({ err }, "the ledger's notes of keys cannot be read");
          await clock.sleep(PAUSE_MS, stop).catch(() => undefined);
        }
      }
    },
  };
}

/**
 * Finds the key notes of an account in a block.
 *
 * @param block `{block, cert}` in msgpack
 * @param of.ledger CAIP-2
 */
export function keyNotesIn(
  block: Uint8Array,
  { round, ledger, account }: { round: number; ledger: string; account: string },
): RecordedNote[] {
  const prefix = keyNotePrefix(ledger);
  // Few blocks have the bytes of one anywhere: searching is much cheaper than reading a block.
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
