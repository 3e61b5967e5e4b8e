/** Waits for events of a key. */
export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next `wake` of the key, or when the signal aborts; never rejects. */
  wait(key: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting);
      const end = () => {
        waiting.delete(end);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        signal.removeEventListener("abort", end);
        resolve();
      };
      waiting.add(end);
      signal.addEventListener("abort", end);
    });
  }

  wake(key: string): void {
    for (const end of [...(this.#waiting.get(key) ?? [])]) end();
  }
}
