import { before, pruneAll } from "../calls/retention.ts";
import { systemClock } from "../clock.ts";
import { type OperatorOptions, openSession, type Settings } from "./session.ts";

/** What was pruned, or would be: calls that began before a time (RFC 3339), and the bytes that their rows took, packed. */
export type Pruning = { before: string; calls: number; bytes: number };

/**
 * Prunes the calls at rest that are older than some days, or counts them.
 *
 * @param days whole, at least 1
 * @param isDry whether nothing is to be written; the journal may be in use then
 * @throws Error when the journal cannot be opened, or a step failed: what was pruned before that stays so
 */
export async function pruneJournal(
  settings: Settings,
  { days, isDry }: { days: number; isDry: boolean },
  options: OperatorOptions,
): Promise<Pruning> {
  await using session = await openSession(settings, options);
  const limit = before(days, systemClock.now());
  const journal = isDry ? await session.reader() : await session.journal();
  const found = await journal.prunable(limit);
  const calls = "prune" in journal ? await pruneAll(journal, limit, session.signal) : found.calls;
  return { before: new Date(limit).toISOString(), calls, bytes: found.bytes };
}
