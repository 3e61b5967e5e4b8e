import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random } from "./random.ts";
import { type Life, Scheduler } from "./scheduler.ts";
import { Timers } from "./timers.ts";

test("timers are taken soonest first, and in their order when at the same time", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
      const timers = new Timers<{ at: number; order: number }>();
      const added = times.map((at, order) => ({ at, order }));
      for (const item of added) timers.add(item.at, item);
      const taken = added.map(() => timers.take());
      expect(taken).toEqual(added.toSorted((a, b) => a.at - b.at || a.order - b.order));
      expect([timers.take(), timers.soonest]).toEqual([undefined, Number.POSITIVE_INFINITY]);
    }),
  );
});

test("chance is even, and the same for the same seed", () => {
  const draws = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 10_000 }, () => random.below(10));
  };
  expect(draws(5)).toEqual(draws(5));
  expect(draws(5)).not.toEqual(draws(6));
  const often = Map.groupBy(draws(5), (value) => value);
  for (let value = 0; value < 10; value++) {
    const times = often.get(value)?.length ?? 0;
    expect(times > 850 && times < 1_150).toBe(true);
  }
});

describe("the scheduler", () => {
  const alive = (): Life => ({ name: "a", alive: true, paused: false });
  const scheduled = () => new Scheduler({ random: new Random(1) });

  test("lets what is ready happen in any order, and time pass only for what is due later", async () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      const scheduler = new Scheduler({ random: new Random(seed) });
      const begun = scheduler.now;
      const happened: string[] = [];
      for (const name of ["x", "y", "z"]) scheduler.soon(undefined, name, "", () => happened.push(name));
      scheduler.later(undefined, 50, "later", "", () => happened.push(`${scheduler.now - begun}`));
      await scheduler.run(() => happened.length === 4);
      orders.add(happened.join(" "));
    }
    expect(orders.size).toBe(6);
    expect([...orders].every((order) => order.endsWith("50"))).toBe(true);
  });

  test("runs all code that a step woke before the next step", async () => {
    const scheduler = scheduled();
    const happened: string[] = [];
    const chain = async () => {
      for (let i = 0; i < 50; i++) await undefined;
      happened.push("woken");
    };
    scheduler.soon(undefined, "first", "", () => void chain());
    scheduler.later(undefined, 1, "second", "", () => happened.push("second"));
    await scheduler.run(() => happened.includes("second"));
    expect(happened).toEqual(["woken", "second"]);
  });

  test("lets nothing happen to the dead but what is under way already", async () => {
    const outcomes = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const scheduler = new Scheduler({ random: new Random(seed) });
      const life = alive();
      const happened: string[] = [];
      scheduler.soon(life, "own", "", () => happened.push("own"));
      scheduler.send(life, 0, "sent", "", () => happened.push("sent"));
      scheduler.later(undefined, 1, "end", "", () => happened.push("end"));
      life.alive = false;
      await scheduler.run(() => happened.includes("end"));
      expect(scheduler.inFlight).toBe(0);
      outcomes.add(happened.join(" "));
    }
    expect([...outcomes].sort()).toEqual(["end", "sent end"]);
  });

  test("keeps the events of a process that stands still until it goes on", async () => {
    const scheduler = scheduled();
    const life = { ...alive(), paused: true };
    const happened: string[] = [];
    scheduler.soon(life, "held", "", () => happened.push("held"));
    scheduler.later(undefined, 10, "goes on", "", () => {
      happened.push("goes on");
      scheduler.wake(life);
    });
    await scheduler.run(() => happened.length === 2);
    expect(happened).toEqual(["goes on", "held"]);
  });

  test("gives clocks that sleep in its time, and wake when their signal aborts", async () => {
    const scheduler = scheduled();
    const clock = scheduler.clock(alive(), 500);
    expect(clock.now() - scheduler.now).toBe(500);
    const woken: string[] = [];
    const controller = new AbortController();
    void clock.sleep(1_000).then(() => woken.push("slept"));
    clock.sleep(2_000, controller.signal).catch((reason) => woken.push(reason));
    void clock.sleep(9, AbortSignal.abort("at once")).catch((reason) => woken.push(reason));
    scheduler.later(undefined, 1_500, "cut", "", () => controller.abort("cut"));
    await scheduler.run(() => woken.length === 3);
    expect(woken).toEqual(["at once", "slept", "cut"]);
    const signal = clock.timeout(100);
    signal.addEventListener("abort", () => woken.push("late"));
    await scheduler.run(() => woken.length === 4);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });
});
