import { expect, test } from "vitest";
import { TestClock } from "../test/fakes/clock.ts";
import { within } from "./clock.ts";

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
