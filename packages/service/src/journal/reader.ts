import type { KeyJournal } from "../attestor/key-journal.ts";
import type { Call, CallState } from "../calls/call.ts";
import type { CopiedJournal } from "../calls/copied.ts";
import type { Identity, Journal } from "../calls/journal.ts";
import type { PruningJournal } from "../calls/pruning.ts";
import type { RefusedJournal } from "../calls/refused.ts";
import { hasCode } from "../lib/errors.ts";

/** How a journal's schema stands to the one that this release writes. `unreleased`: from before the first release. */
export type SchemaState = "absent" | "older" | "current" | "newer" | "unreleased";

/** Why this release can do nothing with a journal, and what to do. */
export const REFUSED: Readonly<Partial<Record<SchemaState, string>>> = {
  newer: "a later release of attestd has written this journal: run that release, or a later one",
  unreleased: "it was made by an attestd from before its first release, in another form: start with a new journal",
};

/** The version of a journal from before the first release, whose tables had another form. */
export const UNRELEASED = -1;

/** @param version of a journal's schema, 0 where there is none; `known`: the one that this release writes */
export function schemaState(version: number, known: number): SchemaState {
  if (version === UNRELEASED) return "unreleased";
  if (version === 0) return "absent";
  return version === known ? "current" : version < known ? "older" : "newer";
}

/**
 * A journal as an auditor opens it: read only. It is no replica, takes no lease, and leaves the schema as it is.
 *
 * Every method throws Error when the database cannot be read; it never names user or password.
 */
export interface JournalReader
  extends AsyncDisposable,
    Pick<Journal, "payees" | "evidenceOf" | "partsOf">,
    Pick<CopiedJournal, "copiedUntil">,
    Pick<RefusedJournal, "refused">,
    Pick<PruningJournal, "prunable">,
    Pick<KeyJournal, "keys" | "revocations"> {
  /**
   * The row of every call, by its key. Page by page, so that a service beside it is not held up; MUST give each call that was
   * committed before it began, as it was then or later, and go on after a row that is damaged.
   */
  calls(): AsyncIterable<Call | UnreadRow>;
  /** `absent` while no service has begun it. */
  schema(): Promise<SchemaState>;
  /** The journal's attestor and ledger; undefined while no service has begun it. */
  identity(): Promise<Identity | undefined>;
}

/** What a saved journal holds. */
export type SavedJournal = {
  /** The version of its schema. */
  schema: number;
  identity: Identity;
  /** How many calls are in each state. */
  calls: Partial<Record<CallState, number>>;
  keys: number;
};

/** Calls in a page: with their bundles some 25 KiB each, and a few times that at most (calls/apart.ts). */
const PAGE = 100;

/** A row of a call that is damaged. `fault`: what is wrong, a sentence without its period. */
export type UnreadRow = { readonly key: string; readonly fault: string };

/** Of a row that could not be read. @throws the error unless the row is damaged */
export function unreadRow({ key }: { key: string }, error: unknown): UnreadRow {
  if (hasCode(error, "journal_damaged")) return { key, fault: error.message };
  throw error;
}

/** @param read reads up to `limit` calls with keys greater than `after`, in the order of their keys */
export async function* inPages(
  read: (after: string, limit: number) => Promise<(Call | UnreadRow)[]>,
): AsyncGenerator<Call | UnreadRow> {
  for (let after = ""; ; ) {
    const calls = await read(after, PAGE);
    yield* calls;
    const last = calls.at(-1);
    if (!last || calls.length < PAGE) return;
    after = last.key;
  }
}
