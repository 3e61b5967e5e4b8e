import { endOf, race } from "./clock.ts";

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

/** Makes a gate that admits `most` at a time; the others wait in order. */
export function createPlaces(most: number) {
  let active = 0;
  const waiting: (() => void)[] = [];
  /** Passes the place on to the next one. */
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else active -= 1;
  };
  return {
    /** @returns a function to leave with. @throws the signal's reason when that comes first */
    async enter(signal: AbortSignal): Promise<() => void> {
      signal.throwIfAborted();
      if (active < most) {
        active += 1;
        return leave;
      }
      const turn = new Promise<void>((resolve) => waiting.push(resolve));
      await race(signal, () => turn, endOf).catch((error: unknown) => {
        // A caller that has given up passes the place on as soon as it gets it.
        void turn.then(leave);
        throw error;
      });
      return leave;
    },
  };
}
