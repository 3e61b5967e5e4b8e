import { expect, test } from "vitest";
import type { ClockComparison } from "../providers/host-clock.ts";
import { createClockWatch } from "./clock-watch.ts";

test("a wrong clock stops sales with its seconds, a doubtful one is only said, and each change is logged once", async () => {
  let found: ClockComparison = { verdict: "unknown", aheadMs: 0, by: [], of: 0 };
  const lines: string[] = [];
  const log = {
    error: (_: object, line: string) => lines.push(line),
    info: (_: object, line: string) => lines.push(line),
  };
  const watch = createClockWatch({ hostClock: { compare: () => found }, log: log as never });
  const after = async (next: ClockComparison) => {
    found = next;
    for (let i = 0; i < 2; i++) await watch.refresh();
    return [watch.obstacle(), watch.doubt()];
  };
  expect(await after({ verdict: "right", aheadMs: 0, by: ["a", "b"], of: 2 })).toEqual([undefined, undefined]);
  expect(await after({ verdict: "wrong", aheadMs: 899_600, by: ["a", "b"], of: 3 })).toEqual([
    "clock_wrong: this host's clock is 900 s ahead of 2 of 3 others. Set it by NTP.",
    undefined,
  ]);
  expect(await after({ verdict: "doubtful", aheadMs: -30_000, by: ["a"], of: 1 })).toEqual([
    undefined,
    "the clock may be wrong: this host's clock is 30 s behind 1 of 1 others",
  ]);
  expect(lines).toEqual(["clock_wrong", "the clock is right again"]);
});
