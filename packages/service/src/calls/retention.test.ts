import { expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { keepRetention } from "./retention.ts";

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

function keeping(old: number) {
  const clock = new TestClock();
  const stop = new AbortController();
  const seen = { old, isChosen: true, fails: false, asked: [] as [number, number][], lines: [] as unknown[] };
  const journal = {
    collects: async () => seen.isChosen,
    async prune(before: number, limit: number) {
      seen.asked.push([before, limit]);
      if (seen.fails) throw new Error("no space");
      const calls = Math.min(seen.old, limit);
      seen.old -= calls;
      return calls;
    },
  };
  const log = {
    info: (line: object) => void seen.lines.push(line),
    warn: ({ err }: { err: Error }) => void seen.lines.push(err.message),
  };
  const kept = keepRetention(30, { journal, clock, log: log as never }, stop.signal);
  return { clock, seen, stop, kept };
}

test("old calls are pruned at once and then every hour, in steps, until it is stopped", async () => {
  const { clock, seen, stop, kept } = keeping(40);
  const limit = clock.now() - 30 * DAY_MS;
  await clock.advance(1_000);
  expect(seen.old).toBe(0);
  expect(seen.asked[0]?.[0]).toBe(limit);
  expect(seen.asked.length).toBeGreaterThan(1);
  expect(seen.lines).toEqual([{ calls: 40, days: 30 }]);
  seen.asked.length = 0;
  seen.old = 1;
  await clock.advance(HOUR_MS - 2_000);
  expect(seen.asked).toEqual([]);
  await clock.advance(2_000);
  expect(seen.old).toBe(0);
  stop.abort();
  await kept;
});

test("a step that fails is logged and tried again, and a replica that is not chosen prunes nothing", async () => {
  const { clock, seen, stop, kept } = keeping(1);
  seen.fails = true;
  await clock.advance(1_000);
  expect(seen.lines).toEqual(["no space"]);
  Object.assign(seen, { fails: false, isChosen: false });
  await clock.advance(HOUR_MS);
  expect(seen.old).toBe(1);
  seen.isChosen = true;
  await clock.advance(HOUR_MS);
  expect(seen.old).toBe(0);
  stop.abort();
  await kept;
});
