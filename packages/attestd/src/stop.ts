/** What asks this process to stop: Ctrl-C, a supervisor, or a parent that is gone. Asked again, it goes on stopping. */
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
