/** Aborts when this process is asked to stop: Ctrl-C, a supervisor, or the end of the parent. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort(name));
  if (process.channel) process.once("disconnect", () => stop.abort("disconnect"));
  return stop.signal;
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
