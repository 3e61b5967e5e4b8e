/** One error for all: a new one with its stack would cost more than a small answer. */
const TIME_OVER = new Error("the time is over");

/**
 * Runs work with a time limit.
 *
 * @param work gets a signal that is aborted when the time is over, or when the caller's signal is
 * @throws Error as soon as that happens, even if the work goes on; the signal's reason when it was the caller's signal
 */
export async function within<T>(ms: number, signal: AbortSignal, work: (ends: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const ends = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    ends.abort(reason);
    reject(reason);
  };
  const onAbort = () => end(signal.reason);
  const timer = setTimeout(end, ms, TIME_OVER);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work(ends.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
