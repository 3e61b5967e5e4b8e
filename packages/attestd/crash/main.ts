import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startSandbox } from "@attestd/sandbox";
import { type Outcome, runCell } from "./cell.ts";
import { openDatabases } from "./databases.ts";
import { CELLS, drawn, inParallel, inWords, titleOf } from "./matrix.ts";
import { createStarter } from "./process.ts";
import { documentOf, failuresOf, tableOf } from "./report.ts";

/*
 * npm run test:crash -- [--times 3] [--only text] [--jobs 12] [--seed n]
 *
 * Runs the crash matrix, prints the table, and, when the whole of it was run, writes docs/crash-matrix.md.
 */

const USAGE = "node packages/attestd/crash/main.ts [--times N] [--only TEXT] [--jobs N] [--seed N] [--dry]";
/** Slow enough that a dozen services that follow every round leave time for the work. */
const ROUND_MS = 400;
const PATIENCE_MS = 300_000;
const DOCUMENT = new URL("../../../docs/crash-matrix.md", import.meta.url);

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "12" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    dry: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(USAGE);
} else {
  const [times, jobs, seed] = [values.times, values.jobs, values.seed].map(Number) as [number, number, number];
  const cells = CELLS.filter((cell) => titleOf(cell).includes(values.only));
  const runs = drawn(cells, times, seed);
  console.log(`${cells.length} cells, ${runs.length} runs, ${jobs} at a time, seed ${seed}`);
  if (values.dry) for (const cell of cells) console.log(titleOf(cell));
  else process.exitCode = (await runAll(runs, jobs, seed, cells.length === CELLS.length)) ? 0 : 1;
}

/** @returns whether every run held */
async function runAll(runs: ReturnType<typeof drawn>, jobs: number, seed: number, whole: boolean): Promise<boolean> {
  const started = performance.now();
  const sandbox = await startSandbox({ roundMs: ROUND_MS });
  const databases = await openDatabases(new Set(runs.map(({ store }) => store)));
  const start = createStarter();
  try {
    let done = 0;
    const outcomes = await inParallel(runs, jobs, async (cell) => {
      const outcome = await runCell({ sandbox, databases, start, patienceMs: PATIENCE_MS, hurry: false }, cell);
      console.log(line(++done, runs.length, outcome));
      return outcome;
    });
    const minutes = (performance.now() - started) / 60_000;
    console.log(["", ...tableOf(outcomes), "", ...failuresOf(outcomes)].join("\n"));
    const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
    console.log(`${held} of ${outcomes.length} runs held, in ${minutes.toFixed(1)} minutes, seed ${seed}`);
    const date = new Date().toISOString().slice(0, 10);
    if (whole) writeFileSync(DOCUMENT, documentOf({ outcomes, seed, date, revision: revision(), minutes }));
    return held === outcomes.length;
  } finally {
    await databases.close();
    await sandbox.close();
  }
}

function line(done: number, all: number, { cell, wrong, told, seconds }: Outcome): string {
  const verdict = wrong.length === 0 ? "held" : `WRONG: ${wrong.join("; ")}`;
  return `${String(done).padStart(4)}/${all} ${titleOf(cell)}: ${verdict} (${inWords(told)}; ${seconds.toFixed(1)} s)`;
}

function revision(): string {
  return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
}
