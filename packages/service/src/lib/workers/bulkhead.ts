import type { Clock } from "../clock.ts";
import { Problem } from "../problems.ts";

export type BulkheadOptions = {
  /** The limit of concurrent tasks. */
  maxActive: number;
  maxWaiting: number;
  /** Tasks that start per second; twice as many after a time without any. */
  perSecond: number;
  /** The sentence with which a task is refused that would wait too long; default: one about bundles. */
  refusal?: string;
  clock: Pick<Clock, "now" | "sleep">;
};

export type Bulkhead = ReturnType<typeof createBulkhead>;

const OF_BUNDLES = "Too many bundles wait to be compared with the chains. You can verify them offline.";

/** Limits one kind of task, so that a flood of it does not delay other work. */
export function createBulkhead({ maxActive, maxWaiting, perSecond, refusal = OF_BUNDLES, clock }: BulkheadOptions) {
  const waiting: (() => void)[] = [];
  const burst = 2 * perSecond;
  let active = 0;
  let tokens = burst;
  let countedAt = clock.now();
  let isPaused = false;

  /** Refills the token bucket; a clock that is set back adds nothing. */
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
    /** Runs a task in its turn. @throws Problem `over_capacity` at once, when too many tasks wait already */
    async run<T>(task: () => Promise<T>): Promise<T> {
      if (waiting.length >= maxWaiting) {
        const retryAfter = Math.ceil(waiting.length / perSecond) + 1;
        throw new Problem("over_capacity", refusal, { retryAfter });
      }
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        begin();
      });
      try {
        return await task();
      } finally {
        active -= 1;
        begin();
      }
    },
  };
}
