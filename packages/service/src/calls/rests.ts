import type { Clock } from "../lib/clock.ts";

/**
 * Makes pauses that cost a timer each and no loop. Of those that are over in one moment, as after a restart, `most` go on at a time.
 */
export function createRests(clock: Pick<Clock, "after">, most: number) {
  const due: (() => void)[] = [];
  let active = 0;

  /** Passes the place on to the next one. */
  function leave(): void {
    const next = due.shift();
    if (next) next();
    else active -= 1;
  }

  /** @returns at once, or a promise, so that the caller's context is not that of whoever leaves */
  function enter(): Promise<void> | undefined {
    if (active === most) return new Promise((resolve) => due.push(resolve));
    active += 1;
    return undefined;
  }

  /**
   * @param resume called after `ms` once there is a place, unless the rest was ended; it MUST call what it is given to leave the place
   * @returns a function that ends the rest
   */
  return (ms: number, resume: (leave: () => void) => void): (() => void) => {
    let isEnded = false;
    const cancel = clock.after(ms, async () => {
      await enter();
      if (isEnded) leave();
      else resume(leave);
    });
    return () => {
      isEnded = true;
      cancel();
    };
  };
}
