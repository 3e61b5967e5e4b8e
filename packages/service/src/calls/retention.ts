import type { Logger } from "pino";
import type { EvidenceJournal } from "../ledger/evidence/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { count } from "../observe/metrics/meter.ts";
import type { PruningJournal } from "./pruning.ts";

const DAY_MS = 24 * 60 * 60_000;
/** How often old calls are looked for, in ms. */
const EVERY_MS = 60 * 60_000;
/** Calls that are pruned at once, and the pause between two such steps, in ms. */
const CALLS_PER_STEP = 16;
const PAUSE_MS = 100;

export type RetentionOptions = {
  journal: Pick<PruningJournal, "prune"> & Pick<EvidenceJournal, "collects">;
  clock: Clock;
  log: Pick<Logger, "info" | "warn">;
};

/** The time before which a call began that is older than some days, Unix ms. */
export function before(days: number, now: number): number {
  return now - days * DAY_MS;
}

/**
 * Prunes the calls that began before a time, the oldest first.
 *
 * @param pause between two steps
 * @returns how many
 */
export async function pruneAll(
  { prune }: Pick<PruningJournal, "prune">,
  before: number,
  stop: AbortSignal,
  pause: () => Promise<void> = async () => undefined,
): Promise<number> {
  for (let pruned = 0; ; await pause()) {
    stop.throwIfAborted();
    const calls = await prune(before, CALLS_PER_STEP);
    pruned += calls;
    if (calls < CALLS_PER_STEP) return pruned;
  }
}

/** Prunes calls that are older than some days, every hour until `stop`. Never rejects. */
export async function keepRetention(
  days: number,
  { journal, clock, log }: RetentionOptions,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    try {
      const isOurs = await journal.collects();
      const calls = isOurs
        ? await pruneAll(journal, before(days, clock.now()), stop, () => clock.sleep(PAUSE_MS, stop))
        : 0;
      count("pruned", {}, calls);
      if (calls > 0) log.info({ calls, days }, "old calls were pruned");
    } catch (err) {
      if (stop.aborted) return;
      count("pruningFailures", {});
      log.warn({ err }, "old calls cannot be pruned");
    }
    await clock.sleep(EVERY_MS, stop).catch(() => undefined);
  }
}
