/** The clock of the calls. It is injected, so that a simulation can run years in seconds, the same way each time. */
export interface Clock {
  /** Unix ms. */
  now(): number;
  /** Rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a signal that aborts with a TimeoutError after `ms`. */
  timeout(ms: number): AbortSignal;
  /** Runs a function after `ms`. @returns a function that cancels it */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  // node:timers/promises makes an error with its own stack for each sleep that is ended.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", end);
        resolve();
      }, ms);
      signal?.addEventListener("abort", end);
    }),
  timeout: (ms) => AbortSignal.timeout(ms),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Runs work with a signal that aborts when `stop` does, or with a TimeoutError after `ms`. A paid call uses a dozen of
 * them. A cancelled timer costs a fifth of a `deadline` signal, whose timer runs on.
 */
export async function within<T>(
  clock: Pick<Clock, "after">,
  ms: number,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ends = new AbortController();
  const unfollow = follow(ends, stop);
  const cancel = clock.after(ms, () => ends.abort(timedOut()));
  try {
    return await work(ends.signal);
  } finally {
    cancel();
    unfollow();
  }
}

/** Aborts a controller when a signal aborts. @returns a function that undoes this */
export function follow(controller: AbortController, signal: AbortSignal): () => void {
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort);
  return () => signal.removeEventListener("abort", abort);
}

/**
 * The time of one piece of work, such as a request or a call's effects. It is passed down whole, so that nothing below
 * needs a clock for its own limits.
 */
export type Deadline = {
  /** Aborts when the work must end. */
  readonly signal: AbortSignal;
  /** Runs a part of the work for at most `ms`, as `within` does. */
  within<T>(ms: number, part: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Rejects with the signal's reason when that comes first. @param signal default: the work's own */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** Makes the deadline of work that a signal ends. */
export function deadlineOf(clock: Pick<Clock, "after" | "sleep">, signal: AbortSignal): Deadline {
  return {
    signal,
    within: (ms, part) => within(clock, ms, signal, part),
    sleep: (ms, sooner = signal) => clock.sleep(ms, sooner),
  };
}

/** Runs work with a deadline of `ms`. What the work started and did not wait for ends with it. */
export async function withDeadline<T>(
  clock: Pick<Clock, "after" | "sleep">,
  ms: number,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const ends = new AbortController();
  const cancel = clock.after(ms, () => ends.abort(timedOut()));
  try {
    return await work(deadlineOf(clock, ends.signal));
  } finally {
    cancel();
    ends.abort(NOT_NEEDED);
  }
}

function timedOut(): DOMException {
  return new DOMException("The operation was aborted due to timeout", "TimeoutError");
}

/** Rejects with the signal's reason once it aborts. */
export function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Returns a signal that aborts when `stop` does, or after `ms`, for work whose end is not observed here. */
export function deadline(clock: Pick<Clock, "timeout">, ms: number, stop: AbortSignal): AbortSignal {
  return AbortSignal.any([stop, clock.timeout(ms)]);
}

/**
 * The reason for ending work whose result is no longer needed. It is shared, because each new one would have its own
 * stack.
 */
const NOT_NEEDED = new DOMException("the result is not needed any more", "AbortError");

/**
 * Runs work and aborts what it started but did not wait for. It costs a tenth of `AbortSignal.any` and an abort without
 * a reason.
 * @param work gets a signal that aborts when `stop` does, and when the work has settled
 */
export async function untilSettled<T>(stop: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const settled = new AbortController();
  const unfollow = follow(settled, stop);
  try {
    return await work(settled.signal);
  } finally {
    unfollow();
    settled.abort(NOT_NEEDED);
  }
}

/**
 * Runs works concurrently until the first settles, and aborts the others.
 * @param works each gets a signal that aborts when `stop` does, or when another work has settled
 * @returns the result of the first. @throws its error
 */
export function race<T>(stop: AbortSignal, ...works: ((signal: AbortSignal) => Promise<T>)[]): Promise<T> {
  return untilSettled(stop, (signal) => Promise.race(works.map((work) => work(signal))));
}
