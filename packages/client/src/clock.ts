export interface Clock {
  /** ms since 1970. */
  now(): number;
  /** Rejects with the signal's reason when that comes first. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  async wait(ms, signal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await unlessAborted(promise, signal).finally(() => clearTimeout(timer));
  },
};

/** Waits for work that cannot be stopped; rejects with the signal's reason when that comes first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** All wallets share it, because two may have the same key. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs actions one after another, at most one per millisecond. Stock Algorand payments differ only in the time stamp in
 * their notes: two signed in the same millisecond would be one payment for two calls.
 */
export function oneAMillisecond<T>(action: () => Promise<T>): Promise<T> {
  const result = turn.then(action);
  turn = result.catch(() => undefined).then(nextMillisecond);
  return result;
}

async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1));
}
