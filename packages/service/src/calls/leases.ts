import type { Logger } from "pino";
import type { Clock } from "../lib/clock.ts";
import type { CallHead } from "./call.ts";
import { type Journal, LEASE_MS } from "./journal.ts";

export type LeasesOptions = {
  journal: Journal;
  clock: Clock;
  log: Logger;
  /** Called with each call whose lease this replica took. */
  take(call: CallHead): void;
  /** Called with the key of each call whose lease this replica lost. */
  drop(key: string): void;
  /** Called when a renewal has succeeded. @param begunAt Unix ms: the leases last until `LEASE_MS` later, or longer */
  renewed(begunAt: number): void;
  /** Ends the rounds. The leases stand until they are released or expire. */
  stop: AbortSignal;
};

/** Two heartbeats may be lost before the leases are. */
export const HEARTBEAT_MS = LEASE_MS / 3;
/** Leases taken at once: a bound, so that those of a dead replica spread over the living. */
const MAX_LEASES_AT_ONCE = 500;

/**
 * Takes the leases that are free now, of calls that an earlier run left and of replicas that died or released them. Goes on
 * to take free leases, and renews those of this replica, until `stop`.
 *
 * @returns the end of the rounds, once the first is over; it never rejects
 */
export async function keepLeases({ journal, clock, log, take, drop, renewed, stop }: LeasesOptions) {
  /** Ends the pause before the next round. */
  let pause = new AbortController();
  const unlisten = journal.listen({ freed: () => pause.abort() });
  await round();
  return { ended: keep().finally(unlisten) };

  async function keep(): Promise<void> {
    for (;;) {
      await clock.sleep(HEARTBEAT_MS, AbortSignal.any([stop, pause.signal])).catch(() => undefined);
      if (stop.aborted) return;
      // Before the round: leases that are released while it runs start another.
      pause = new AbortController();
      await round().catch((err: unknown) => log.warn({ err }, "the leases could not be renewed"));
    }
  }

  async function round(): Promise<void> {
    const begunAt = clock.now();
    const lost = await journal.renew();
    renewed(begunAt);
    for (const key of lost) drop(key);
    for (let more = true; more && !stop.aborted; ) {
      const calls = await journal.lease(MAX_LEASES_AT_ONCE);
      for (const call of calls) take(call);
      more = calls.length === MAX_LEASES_AT_ONCE;
    }
  }
}
