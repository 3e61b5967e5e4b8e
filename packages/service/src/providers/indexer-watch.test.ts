import { expect, test } from "vitest";
import { watchIndexers } from "./indexer-watch.ts";
import { unavailable } from "./provider.ts";

test("indexers that have all been silent for a minute are named until one answers", async () => {
  let now = Date.UTC(2026, 10, 23, 12);
  let away = [false, true];
  const indexers = [0, 1].map((index) => ({
    async currentRound() {
      if (away[index]) throw unavailable("no answer");
      return 1;
    },
  }));
  const watch = watchIndexers(indexers, () => now);
  const doubtAfter = async (ms: number) => {
    now += ms;
    await watch.refresh(AbortSignal.timeout(1_000));
    return watch.doubt();
  };
  expect(await doubtAfter(60_001)).toBeUndefined();
  away = [true, true];
  expect(await doubtAfter(60_000)).toBeUndefined();
  expect(await doubtAfter(1)).toBe(
    "no indexer has answered since 2026-11-23T12:01:00.001Z: older Algorand transactions cannot be attested",
  );
  away = [true, false];
  expect(await doubtAfter(15_000)).toBeUndefined();
});
