import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../src/lib/clock.ts";

/** A clock that a test moves. It fires timers in order of time. */
export class TestClock implements Clock {
  #now = 1_000_000;
  readonly #due = new Set<{ at: number; fire: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        this.#due.delete(timer);
        reject(signal?.reason);
      };
      const timer = this.#at(ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    this.#at(ms, () => controller.abort(new DOMException("timed out", "TimeoutError")));
    return controller.signal;
  }

  after(ms: number, run: () => void): () => void {
    const timer = this.#at(ms, run);
    return () => this.#due.delete(timer);
  }

  /** Moves time on, and runs everything that becomes due. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await setImmediate();
      const [next] = [...this.#due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#due.delete(next);
      this.#now = next.at;
      next.fire();
    }
    this.#now = end;
  }

  #at(ms: number, fire: () => void) {
    const timer = { at: this.#now + ms, fire };
    this.#due.add(timer);
    return timer;
  }
}
