import { setTimeout as timer } from "node:timers/promises";

/** Time as the calls see it: injected, so that a simulation can run years of it in seconds, the same way each time. */
export interface Clock {
  /** Unix ms. */
  now(): number;
  /** Rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** A signal that aborts with a TimeoutError after so many ms. */
  timeout(ms: number): AbortSignal;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => timer(ms, undefined, { signal }),
  timeout: (ms) => AbortSignal.timeout(ms),
};
