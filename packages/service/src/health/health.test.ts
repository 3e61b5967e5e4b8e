import { beforeEach, expect, test, vi } from "vitest";
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

test("a part that hangs, or throws at once, keeps no other from being read, and is not asked twice at a time", async () => {
  const seen: string[] = [];
  const hanging = vi.fn(() => new Promise<void>(() => undefined));
  const throwing = () => {
    throw new Error("no promise");
  };
  const after = { name: "after", everyMs: 5_000, refresh: async () => void seen.push("after") };
  const stop = new AbortController();
  const parts = [
    { name: "hanging", everyMs: 5_000, refresh: hanging },
    { name: "throwing", everyMs: 5_000, refresh: throwing },
    after,
  ];
  const running = healthOf(...parts).run(stop.signal);
  await clock.advance(60_000);
  stop.abort();
  await running;
  expect(seen).toHaveLength(12);
  expect(hanging).toHaveBeenCalledTimes(1);
  expect(lines).toContainEqual([
    "warn",
    { check: "hanging", err: expect.objectContaining({ name: "TimeoutError" }) },
    "refresh failed",
  ]);
  expect(lines).toContainEqual(["warn", { check: "throwing", err: new Error("no promise") }, "refresh failed"]);
});

test("the log has a line when the reason changes of a part that stays unavailable, and none for its figures", async () => {
  let reason: string | undefined;
  const stop = new AbortController();
  const running = healthOf({
    name: "journal",
    everyMs: 1_000,
    status: () => unavailableIf("journal_unavailable", reason),
  }).run(stop.signal);
  for (const next of ["It is away for 1 s (a).", "It is away for 2 s (b).", "It was replaced.", undefined]) {
    reason = next;
    await clock.advance(2_000);
  }
  stop.abort();
  await running;
  expect(lines.map(([, facts]) => (facts as { reason?: string }).reason)).toEqual([
    "It is away for 1 s (a).",
    "It was replaced.",
    undefined,
  ]);
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
