import { expect, test } from "vitest";
import { unavailable } from "../providers/provider.ts";
import { watchWitnesses } from "./witnesses.ts";

/** Indexers that answer or are away, and what the watch says after a while. */
function watched(count: number, quorum?: number) {
  const now = { ms: Date.UTC(2026, 10, 23, 12) };
  const away = Array.from({ length: count }, () => false);
  const asks = away.map((_, index) => async () => {
    if (away[index]) throw unavailable(`indexer${index} is down`);
  });
  const witnesses = { who: "indexers", lost: "older Algorand transactions cannot be attested", asks };
  const watch = watchWitnesses(witnesses, quorum === undefined ? {} : { quorum }, () => now.ms);
  return async (ms: number, ...down: boolean[]) => {
    now.ms += ms;
    away.splice(0, count, ...down);
    await watch.refresh(AbortSignal.timeout(1_000));
    return watch.status();
  };
}

test("too few indexers for a majority are named after a minute, until enough answer", async () => {
  const status = watched(2);
  expect(await status(60_001, false, false)).toEqual({ state: "ok" });
  expect(await status(60_000, true, false)).toEqual({ state: "ok" });
  expect(await status(1, true, false)).toEqual({
    state: "degraded",
    reason:
      "witness_missing: 2 of 2 indexers must agree, and too few have answered since 2026-11-23T12:01:00.001Z (indexer0 is down): older Algorand transactions cannot be attested",
  });
  expect(await status(15_000, false, false)).toEqual({ state: "ok" });
});

test("one of three indexers may be silent for ever, and so may one of two where the operator asks for one alone", async () => {
  const [three, lowered] = [watched(3), watched(2, 1)];
  expect(await three(600_000, true, false, false)).toEqual({ state: "ok" });
  expect(await lowered(600_000, true, false)).toEqual({ state: "ok" });
});
