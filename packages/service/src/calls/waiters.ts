/** Those who wait for something to happen to a key. */
export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves when the key is woken, or the signal aborts; never rejects. What happened before is not heard. */
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
