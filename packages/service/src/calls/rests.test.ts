import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { createRests } from "./rests.ts";

describe("rests that are over in one moment", () => {
  test("go on a few at a time, each in the context in which it began", async () => {
    const clock = new TestClock();
    // As the platform's timers do.
    const inContext = (ms: number, run: () => void) => clock.after(ms, AsyncResource.bind(run));
    const rest = createRests({ after: inContext }, 2);
    const context = new AsyncLocalStorage<number>();
    const resumed: (number | undefined)[] = [];
    const leaves: (() => void)[] = [];
    for (let i = 0; i < 5; i++)
      context.run(i, () =>
        rest(1_000, (leave) => {
          resumed.push(context.getStore());
          leaves.push(leave);
        }),
      );
    await clock.advance(999);
    expect(resumed).toEqual([]);
    await clock.advance(1);
    expect(resumed).toEqual([0, 1]);
    for (let i = 0; i < 5; i++) {
      context.run(9, () => leaves[i]?.());
      await clock.advance(0);
      expect(resumed).toHaveLength(Math.min(3 + i, 5));
    }
    expect(resumed).toEqual([0, 1, 2, 3, 4]);
  });

  test("pass their places on when they were ended while they waited", async () => {
    const clock = new TestClock();
    const rest = createRests(clock, 1);
    const resumed: string[] = [];
    let leave = () => {};
    rest(1_000, (first) => {
      leave = first;
    });
    const ends = ["two", "three"].map((name) => rest(1_000, () => resumed.push(name)));
    await clock.advance(1_000);
    ends[0]?.();
    leave();
    await clock.advance(0);
    expect(resumed).toEqual(["three"]);
  });
});
