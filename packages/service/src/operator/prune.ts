import { before, pruneAll } from "../calls/retention.ts";
import type { Settings } from "../config/config.ts";
import { systemClock } from "../lib/clock.ts";
import { type OperatorOptions, openSession } from "./session.ts";

/**
 * The result or forecast of pruning: calls that began before a time (RFC 3339), and the bytes of their rows, packed.
 */
export type Pruning = { before: string; calls: number; bytes: number };

/**
 * Prunes the finished calls that are older than `days`, or counts them.
 * @param days a positive integer
 * @param isDry writes nothing; the journal may then be in use
 * @throws Error when the journal cannot be opened, or a step failed: what was pruned before that stays pruned
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
