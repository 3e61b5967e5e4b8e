import { expect, test } from "vitest";
import type { Subject } from "../subjects/subject.ts";
import { maxInFlight, watchInFlight, weightOf } from "./in-flight.ts";

const MIB = 2 ** 20;
const ROOMY = { heapBytes: 4096 * MIB, cores: 2, roundMs: 2_800 };

test("as many calls may be in flight as are delivered in eight rounds", () => {
  expect(maxInFlight(ROOMY)).toBe(4_480);
  expect(maxInFlight({ ...ROOMY, cores: 1 })).toBe(2_240);
  // Half of a call is done by the one main thread.
  expect(maxInFlight({ ...ROOMY, cores: 64 })).toBe(4_480);
});

test("slow rounds let more of them wait, up to what a payer waits for", () => {
  expect(maxInFlight({ ...ROOMY, roundMs: 3_500 })).toBe(5_600);
  expect(maxInFlight({ ...ROOMY, roundMs: 60_000 })).toBe(6_000);
  expect(maxInFlight({ ...ROOMY, roundMs: 1 })).toBe(2_000);
});

test("a small heap bounds them, and leaves any process some", () => {
  expect(maxInFlight({ ...ROOMY, heapBytes: 192 * MIB })).toBe(656);
  expect(maxInFlight({ ...ROOMY, heapBytes: 64 * MIB })).toBe(100);
});

test("a batch weighs by its items", () => {
  const items = (length: number) => Array.from({ length }, (_, n) => ({ chain: "base" as const, id: `${n}` }));
  expect(weightOf({ kind: "transaction", chain: "base", id: "x" } as Subject)).toBe(1);
  expect([2, 9, 10, 1_000].map((n) => weightOf({ kind: "batch", items: items(n) } as Subject))).toEqual([1, 1, 2, 101]);
});

test("the time of a round is that of those read since it was last looked at", async () => {
  const rounds = { round: 0, at: 0 };
  const watch = watchInFlight({ latest: () => rounds.round, latestAt: () => rounds.at });
  const seen = async (round: number, at: number) => {
    Object.assign(rounds, { round, at });
    await watch.refresh();
    return watch.roundMs();
  };
  expect(watch.roundMs()).toBe(2_800);
  // Nothing had been read before.
  expect(await seen(100, 50_000)).toBe(2_800);
  expect(await seen(104, 62_000)).toBe(3_000);
  // None came: that says nothing of the next one's time.
  expect(await seen(104, 62_000)).toBe(3_000);
  expect(await seen(105, 72_000)).toBe(10_000);
});
