import { setTimeout as timer } from "node:timers/promises";

/** Time as the calls see it: injected, so that a simulation can run years of it in seconds, the same way each time. */
export interface Clock {
  /** Unix ms. */
  now(): number;
  /** Rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts with a TimeoutError after so many ms. */
  timeout(ms: number): AbortSignal;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => timer(ms, undefined, signal && { signal }),
  timeout: (ms) => AbortSignal.timeout(ms),
};

/** A signal that aborts when `stop` does, or after so many ms. */
export function deadline(clock: Pick<Clock, "timeout">, ms: number, stop: AbortSignal): AbortSignal {
  return AbortSignal.any([stop, clock.timeout(ms)]);
}

/**
 * Runs works side by side until the first settles, and aborts the others.
 *
 * @param works each gets a signal that aborts when `stop` does, or when another work has settled
 * @returns the result of the first. @throws its error
 */
export async function race<T>(stop: AbortSignal, ...works: ((signal: AbortSignal) => Promise<T>)[]): Promise<T> {
  const settled = new AbortController();
  const signal = AbortSignal.any([settled.signal, stop]);
  try {
    return await Promise.race(works.map((work) => work(signal)));
  } finally {
    settled.abort();
  }
}
