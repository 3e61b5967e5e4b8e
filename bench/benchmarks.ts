import type { Effort, Row } from "./measure.ts";

type Benchmark = { run(effort: Effort): Promise<Row[]> };

/** Every benchmark, by the name that the command takes. */
export const BENCHMARKS = {
  paid: () => import("./paid.ts"),
  "paid-cost": () => import("./paid-cost.ts"),
  batch: () => import("./batch.ts"),
  challenge: () => import("./challenge.ts"),
  verify: () => import("./verify.ts"),
  "state-proof": () => import("./state-proof.ts"),
  journal: () => import("./journal.ts"),
  "journal-size": () => import("./journal-size.ts"),
  growth: () => import("./growth.ts"),
  "resting-call": () => import("./resting-call.ts"),
  round: () => import("./round.ts"),
  upstream: () => import("./upstream.ts"),
  start: () => import("./start.ts"),
  install: () => import("./install.ts"),
} satisfies Readonly<Record<string, () => Promise<Benchmark>>>;

export function isBenchmark(name: string): name is keyof typeof BENCHMARKS {
  return Object.hasOwn(BENCHMARKS, name);
}
