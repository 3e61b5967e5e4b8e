import { expect, test } from "vitest";
import { increaseOf } from "../../../../test/helpers/samples.ts";
import { startMetrics } from "../metrics/meter.ts";
import { DecidedByChain, type Facilitator } from "./facilitator.ts";
import { observedFacilitator } from "./observed-facilitator.ts";

/** Never answers a settlement, and ends with its signal. */
const silent = {
  settle: (_payment, _requirement, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
} as Pick<Facilitator, "settle"> as Facilitator;

test.each([
  ["not_awaited", new DecidedByChain()],
  ["failed", new Error("the facilitator is silent")],
  ["failed", new DOMException("too late", "TimeoutError")],
])("a settlement without an answer is counted as %s when it is given up by %s", async (expected, reason) => {
  const metrics = await startMetrics();
  const before = await metrics.text();
  const end = new AbortController();
  const settling = observedFacilitator(silent, "base", "f").settle({} as never, {} as never, end.signal);
  end.abort(reason);
  await expect(settling).rejects.toBe(reason);
  const after = await metrics.text();
  const grown = ["success", "not_awaited", "failed"].filter((outcome) =>
    increaseOf([before, after], "attestd_settlements_total", { rail: "base", facilitator: "f", outcome }),
  );
  expect(grown).toEqual([expected]);
});
