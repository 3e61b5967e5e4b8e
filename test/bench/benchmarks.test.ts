import { expect, test, vi } from "vitest";
import { BENCHMARKS } from "../../bench/benchmarks.ts";
import type { Effort } from "../../bench/measure.ts";

/* Figures are for `npm run bench`: here a benchmark of the service's inner parts that no longer runs is noticed. */

const LEAST: Effort = { turns: 1, warmUp: 0, seconds: 0.1, payments: 10, rows: 1_000 };

test.each(["journal", "growth", "resting-call", "round", "upstream"] as const)(
  "the benchmark %s runs, and every row has figures",
  async (name) => {
    // Vitest sets it, and a service takes it for one of its settings, misspelt.
    vi.stubEnv("BASE_URL", undefined);
    const rows = await (await BENCHMARKS[name]()).run(LEAST);
    expect(rows).not.toEqual([]);
    for (const row of rows) expect(row).toMatchObject({ ours: expect.any(Number), ratio: expect.any(Number) });
    expect(rows.filter(({ ours, ratio }) => !(ours > 0 && ratio > 0))).toEqual([]);
  },
);
