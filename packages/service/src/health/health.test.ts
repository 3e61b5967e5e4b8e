import { beforeEach, expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { type Check, createHealth, degradedIf, OK, type Status, unavailableIf } from "./health.ts";

let clock: TestClock;
let lines: unknown[][];
beforeEach(() => {
  [clock, lines] = [new TestClock(), []];
});

function healthOf(...checks: Check[]) {
  const to = (level: string) => (facts: object, line?: string) => void lines.push([level, facts, line]);
  return createHealth(checks, { clock, log: { error: to("error"), warn: to("warn"), info: to("info") } as never });
}

test("the first part that is unavailable refuses calls with its problem, and every reason is told by its state", () => {
  const parts: Status[] = [
    OK,
    degradedIf("it may rain"),
    unavailableIf("disk_low", "No disk."),
    unavailableIf("clock_wrong", "No clock."),
  ];
  const health = healthOf({ name: "none" }, ...parts.map((status, i) => ({ name: `${i}`, status: () => status })));
  expect(health.refusal()).toMatchObject({ code: "disk_low", message: "No disk.", retryAfter: 60 });
  expect(health.reasons("unavailable")).toEqual(["No disk.", "No clock."]);
  expect(health.reasons("degraded")).toEqual(["it may rain"]);
  expect(healthOf({ name: "well", status: () => OK }).refusal()).toBeUndefined();
});

test("parts are read again at their own intervals until the end, and one that fails leaves the others fresh", async () => {
  const seen: string[] = [];
  const part = (name: string, everyMs: number) => ({ name, everyMs, refresh: async () => void seen.push(name) });
  const failing = { name: "failing", everyMs: 5_000, refresh: () => Promise.reject(new Error("away")) };
  const stop = new AbortController();
  const running = healthOf(failing, part("often", 5_000), part("seldom", 15_000)).run(stop.signal);
  await clock.advance(15_000);
  expect(seen.toSorted()).toEqual(["often", "often", "often", "seldom"]);
  expect(lines).toEqual(Array(3).fill(["warn", { check: "failing", err: new Error("away") }, "refresh failed"]));
  stop.abort();
  await running;
  await clock.advance(60_000);
  expect(seen.length).toBe(4);
});

test("the log has one line for each change of a status, with what only the log may name", async () => {
  let status: Status = OK;
  const stop = new AbortController();
  const running = healthOf({ name: "clock", everyMs: 1_000, status: () => status }).run(stop.signal);
  for (const next of [
    degradedIf("it may be wrong"),
    unavailableIf("clock_wrong", "It is wrong.", { by: ["node.example"] }),
    OK,
  ]) {
    status = next;
    await clock.advance(2_000);
  }
  stop.abort();
  await running;
  expect(lines).toEqual([
    ["warn", { check: "clock", reason: "it may be wrong" }, "degraded"],
    ["error", { check: "clock", reason: "It is wrong.", by: ["node.example"] }, "clock_wrong"],
    ["info", { check: "clock" }, "ok again"],
  ]);
});
