import { systemClock } from "../../src/lib/clock.ts";
import type { Conflict, QuorumRules } from "../../src/providers/quorum.ts";
import { type Ask, patiently } from "../../src/providers/reading.ts";

/** Rules and patience for a reader's tests: pauses take no time, and are counted. */
export function testReading(): { rules: QuorumRules; ask: Ask; conflicts: Conflict[]; pauses: number[] } {
  const conflicts: Conflict[] = [];
  const pauses: number[] = [];
  const clock = {
    now: Date.now,
    timeout: AbortSignal.timeout,
    after: systemClock.after,
    sleep: async (ms: number) => {
      pauses.push(ms);
    },
  };
  return {
    rules: { onConflict: (conflict) => conflicts.push(conflict) },
    ask: patiently(clock, new AbortController().signal),
    conflicts,
    pauses,
  };
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(items);
}
