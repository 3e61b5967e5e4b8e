/** Waits for events by key. */
export class Waiters<T> {
  readonly #waiting = new Map<string, Set<(event?: T) => void>>();

  /** Resolves at the next `wake` of the key, with its value, or when the signal aborts; never rejects. */
  wait(key: string, signal: AbortSignal): Promise<T | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const waiting = this.#waiting.getOrInsertComputed(key, () => new Set());
      const end = (event?: T) => {
        waiting.delete(end);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        signal.removeEventListener("abort", give);
        resolve(event);
      };
      const give = () => end();
      waiting.add(end);
      signal.addEventListener("abort", give);
    });
  }

  wake(key: string, event?: T): void {
    for (const end of [...(this.#waiting.get(key) ?? [])]) end(event);
  }

  /** Wakes all waiters of all keys. */
  wakeAll(): void {
    for (const key of [...this.#waiting.keys()]) this.wake(key);
  }
}
