import type { KeyJournal } from "../attestor/key-journal.ts";
import type { Call, CallState } from "../calls/call.ts";
import type { CopiedJournal } from "../calls/copied.ts";
import type { Identity, Journal } from "../calls/journal.ts";
import type { PruningJournal } from "../calls/pruning.ts";

export type SchemaState = "absent" | "older" | "current" | "newer";

/** Why this release can do nothing with a journal, and what to do. */
export const WRITTEN_LATER = "a later release of attestd has written this journal: run that release, or a later one";

/** @param done migrations that a database has had, of those that this release knows */
export function schemaState(done: number, known: number): SchemaState {
  if (done === 0) return "absent";
  return done === known ? "current" : done < known ? "older" : "newer";
}

/**
 * A journal as an auditor opens it: read only. It is no replica, takes no lease, and leaves the schema as it is.
 *
 * Every method throws Error when the database cannot be read; it never names user or password.
 */
export interface JournalReader
  extends AsyncDisposable,
    Pick<Journal, "payees">,
    Pick<CopiedJournal, "copiedUntil">,
    Pick<PruningJournal, "prunable">,
    Pick<KeyJournal, "keys" | "revocations"> {
  /**
   * Every call, by its key. Page by page, so that a service beside it is not held up; MUST give each call that was
   * committed before it began, as it was then or later.
   */
  calls(): AsyncIterable<Call>;
  /** How the schema stands to this release's; `absent` while no service has begun it. */
  schema(): Promise<SchemaState>;
  /** The journal's attestor and ledger; undefined while no service has begun it. */
  identity(): Promise<Identity | undefined>;
}

/** What a saved journal holds. */
export type SavedJournal = {
  /** Migrations that it has had. */
  schema: number;
  identity: Identity;
  /** How many calls are in each state. */
  calls: Partial<Record<CallState, number>>;
  keys: number;
};

/** Calls in a page: with their bundles some 25 KiB each. */
const PAGE = 200;

/** @param read reads up to `limit` calls with keys greater than `after`, in the order of their keys */
export async function* inPages(read: (after: string, limit: number) => Promise<Call[]>): AsyncGenerator<Call> {
  for (let after = ""; ; ) {
    const calls = await read(after, PAGE);
    yield* calls;
    const last = calls.at(-1);
    if (!last || calls.length < PAGE) return;
    after = last.key;
  }
}
