import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { simulate } from "./simulate.ts";
import { formatFound } from "./trace.ts";

const USAGE = `npm run test:sim -- [--runs N] [--seed S] [--workers W]

Runs N schedules of the paid calls (10000) with the seeds S, S+1, … (one drawn by chance), in W threads (one a core).
Prints each violation with its trace, and a summary. Ends with 1 when there was one.`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    workers: { type: "string", default: String(availableParallelism()) },
    help: { type: "boolean", default: false },
  },
});
const [runs, seed, workers] = [values.runs, values.seed, values.workers].map(Number);
if (values.help || !isCount(runs) || !isCount(workers) || !Number.isSafeInteger(seed)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

console.log(`${runs} schedules from seed ${seed}, ${workers} threads`);
const PROGRESS_MS = 10_000;
let shown = performance.now();
let told = 0;
const { counts, found, ms, ...done } = await simulate({
  runs,
  seed: seed as number,
  workers,
  mostViolations: 5,
  onProgress(doneSoFar, violations) {
    for (const violation of violations.slice(told)) console.log(`\n${formatFound(violation)}`);
    told = violations.length;
    if (performance.now() - shown < PROGRESS_MS) return;
    shown = performance.now();
    console.log(`${doneSoFar} of ${runs} schedules, ${violations.length} violations`);
  },
});
console.log(`\n${done.runs} schedules from seed ${seed} in ${(ms / 1000).toFixed(1)} s: ${found.length} violations`);
for (const [kind, count] of [...counts].sort()) console.log(`${String(count).padStart(10)}  ${kind}`);
process.exitCode = found.length === 0 ? 0 : 1;

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0;
}
