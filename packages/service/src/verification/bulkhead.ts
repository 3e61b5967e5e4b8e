import type { Clock } from "../clock.ts";
import { Problem } from "../problems.ts";

export type BulkheadOptions = {
  /** How much work runs at one time. */
  maxActive: number;
  /** How much work may wait. */
  maxWaiting: number;
  /** How much work starts in a second at most; twice as much after a quiet time. */
  perSecond: number;
  clock: Pick<Clock, "now" | "sleep">;
};

/** Bounds one kind of work, so that a flood of it takes nothing from other work. */
export interface Bulkhead {
  /**
   * Runs work in its turn.
   *
   * @throws Problem `over_capacity` at once, when too much is waiting already
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createBulkhead({ maxActive, maxWaiting, perSecond, clock }: BulkheadOptions): Bulkhead {
  const waiting: (() => void)[] = [];
  const burst = 2 * perSecond;
  let active = 0;
  let tokens = burst;
  let countedAt = clock.now();
  let isPaused = false;

  /** Fills the token bucket of starts; a clock that is set back adds nothing. */
  function refill(): void {
    const now = clock.now();
    tokens = Math.min(burst, tokens + (Math.max(0, now - countedAt) * perSecond) / 1000);
    countedAt = now;
  }

  function begin(): void {
    refill();
    while (active < maxActive && tokens >= 1 && waiting.length > 0) {
      active += 1;
      tokens -= 1;
      waiting.shift()?.();
    }
    if (active >= maxActive || waiting.length === 0 || isPaused) return;
    isPaused = true;
    void clock.sleep(Math.ceil(((1 - tokens) * 1000) / perSecond)).then(() => {
      isPaused = false;
      begin();
    });
  }

  return {
    async run(work) {
      if (waiting.length >= maxWaiting) {
        const retryAfter = Math.ceil(waiting.length / perSecond) + 1;
        const detail = "Too many bundles are waiting to be held against the chains; each may be verified offline.";
        throw new Problem("over_capacity", detail, { retryAfter });
      }
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        begin();
      });
      try {
        return await work();
      } finally {
        active -= 1;
        begin();
      }
    },
  };
}
