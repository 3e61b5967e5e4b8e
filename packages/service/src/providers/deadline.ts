/** The time was over. One for all: an error of its own, with its stack, for each would cost more than a small answer. */
const TIME_OVER = new Error("the time is over");

/**
 * Runs work that has so much time, and not longer than its caller wants it.
 *
 * @param work gets a signal that is aborted when the time is over or the caller's signal is
 * @throws Error once either is, whatever becomes of the work; the caller's reason when it was the caller's signal
 */
export async function within<T>(ms: number, signal: AbortSignal, work: (ends: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const ends = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    ends.abort(reason);
    reject(reason);
  };
  const leave = () => end(signal.reason);
  const timer = setTimeout(end, ms, TIME_OVER);
  signal.addEventListener("abort", leave);
  try {
    return await Promise.race([work(ends.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
}
