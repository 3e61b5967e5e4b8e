import { expect, test } from "vitest";
import type { ClockComparison } from "../providers/host-clock.ts";
import { watchClock } from "./clock.ts";

test("a wrong clock stops sales with its seconds, and a doubtful one is only said", async () => {
  let found: ClockComparison = { verdict: "unknown", aheadMs: 0, by: [], of: 0 };
  const watch = watchClock({ compare: () => found });
  const after = async (next: ClockComparison) => {
    found = next;
    await watch.refresh();
    return watch.status();
  };
  expect(await after({ verdict: "right", aheadMs: 0, by: ["a", "b"], of: 2 })).toEqual({ state: "ok" });
  expect(await after({ verdict: "wrong", aheadMs: 899_600, by: ["a", "b"], of: 3 })).toEqual({
    state: "unavailable",
    code: "clock_wrong",
    reason: "clock_wrong: this host's clock is 900 s ahead of 2 of 3 others. Set it by NTP.",
    facts: { aheadMs: 899_600, by: ["a", "b"], of: 3 },
  });
  expect(await after({ verdict: "doubtful", aheadMs: -30_000, by: ["a"], of: 1 })).toEqual({
    state: "degraded",
    reason: "the clock may be wrong: this host's clock is 30 s behind 1 of 1 others",
  });
});
