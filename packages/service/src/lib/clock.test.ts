import { expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { race, systemClock, untilSettled, within } from "./clock.ts";

const ended = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("work within a time gets a TimeoutError once it is over, and the reason of whoever stops it", async () => {
  const clock = new TestClock();
  const late = within(clock, 100, new AbortController().signal, ended);
  late.catch(() => undefined);
  await clock.advance(100);
  await expect(late).rejects.toMatchObject({ name: "TimeoutError" });

  const stop = new AbortController();
  const stopped = within(clock, 100, stop.signal, ended);
  stop.abort(new Error("stopping"));
  await expect(stopped).rejects.toThrow("stopping");
  await expect(within(clock, 100, stop.signal, async (signal) => signal.throwIfAborted())).rejects.toThrow("stopping");
});

test("work that has ended in time leaves nothing behind that could end it", async () => {
  const clock = new TestClock();
  const stop = new AbortController();
  let given: AbortSignal | undefined;
  expect(
    await within(clock, 100, stop.signal, async (signal) => {
      given = signal;
      return 5;
    }),
  ).toBe(5);
  await clock.advance(1_000);
  stop.abort();
  expect(given?.aborted).toBe(false);
});

test("what work has left running ends when the work has settled, and when it is stopped", async () => {
  let left: Promise<never> | undefined;
  const result = await untilSettled(new AbortController().signal, async (signal) => {
    left = ended(signal);
    return 5;
  });
  expect(result).toBe(5);
  await expect(left).rejects.toMatchObject({ name: "AbortError" });

  const stop = new AbortController();
  const stopped = untilSettled(stop.signal, ended);
  stop.abort(new Error("stopping"));
  await expect(stopped).rejects.toThrow("stopping");
  await expect(untilSettled(stop.signal, async (signal) => signal.throwIfAborted())).rejects.toThrow("stopping");
});

test("losers of a race end with one reason, which costs no stack of its own", async () => {
  const reasons: unknown[] = [];
  for (let i = 0; i < 2; i++) {
    const loser = (signal: AbortSignal) => ended(signal).catch((reason) => void reasons.push(reason));
    await race(new AbortController().signal, async () => undefined, loser);
  }
  expect(reasons).toHaveLength(2);
  expect(reasons[0]).toBe(reasons[1]);
});

test("a sleep that is stopped rejects with the reason, and leaves no listener once it is over", async () => {
  const stop = new AbortController();
  const reason = new Error("stopping");
  const removed: string[] = [];
  const { removeEventListener } = stop.signal;
  stop.signal.removeEventListener = (type: string, ...rest: unknown[]) => {
    removed.push(type);
    Reflect.apply(removeEventListener, stop.signal, [type, ...rest]);
  };
  await systemClock.sleep(1, stop.signal);
  expect(removed).toEqual(["abort"]);
  const stopped = systemClock.sleep(60_000, stop.signal);
  stop.abort(reason);
  await expect(stopped).rejects.toBe(reason);
  await expect(systemClock.sleep(1, stop.signal)).rejects.toBe(reason);
});
