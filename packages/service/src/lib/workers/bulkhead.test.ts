import { expect, test } from "vitest";
import { TestClock } from "../../../test/fakes/clock.ts";
import { createBulkhead } from "./bulkhead.ts";

/** Makes a task that the test ends. */
function workshop() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    finish: (n: number) => ends[n]?.(),
    work: (n: number) => () => {
      begun.push(n);
      return new Promise<number>((resolve) => {
        ends[n] = () => resolve(n);
      });
    },
  };
}

test("runs tasks in their order up to its limit, and refuses at once when too many wait", async () => {
  const clock = new TestClock();
  const bulkhead = createBulkhead({ maxActive: 2, maxWaiting: 3, perSecond: 100, clock });
  const { begun, finish, work } = workshop();
  const running = [0, 1, 2, 3, 4].map((n) => bulkhead.run(work(n)));
  await clock.advance(0);
  expect(begun).toEqual([0, 1]);
  await expect(bulkhead.run(work(5))).rejects.toMatchObject({ code: "over_capacity", retryAfter: 2 });
  finish(1);
  await clock.advance(0);
  expect(begun).toEqual([0, 1, 2]);
  for (const n of [0, 2, 3, 4]) {
    finish(n);
    await clock.advance(0);
  }
  expect(await Promise.all(running)).toEqual([0, 1, 2, 3, 4]);
});

test("runs the next task after one that failed", async () => {
  const clock = new TestClock();
  const bulkhead = createBulkhead({ maxActive: 1, maxWaiting: 1, perSecond: 100, clock });
  const failing = bulkhead.run(() => Promise.reject(new Error("down")));
  const next = bulkhead.run(async () => "done");
  await expect(failing).rejects.toThrow("down");
  expect(await next).toBe("done");
});

test("starts a limited number of tasks in a second, and twice as many after a time without any, however short they are", async () => {
  const clock = new TestClock();
  const bulkhead = createBulkhead({ maxActive: 4, maxWaiting: 1_000, perSecond: 10, clock });
  let begun = 0;
  for (let n = 0; n < 200; n++) void bulkhead.run(async () => void begun++);
  await clock.advance(0);
  expect(begun).toBe(20);
  await clock.advance(1_000);
  expect(begun).toBe(30);
  await clock.advance(5_000);
  expect(begun).toBe(80);
  await clock.advance(100_000);
  expect(begun).toBe(200);
});
