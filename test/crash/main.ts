import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startSandbox } from "@attestd/sandbox";
import { runCell, type Stand } from "./cell.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { coursesOf, FAULT_CELLS, faultTitle, REMEMBERED_ROUNDS, runFaults } from "./faults.ts";
import { runFlood } from "./flood.ts";
import { CELLS, drawn, inParallel, inWords, runTitle, titleOf } from "./matrix.ts";
import { createStarter, createTurns } from "./process.ts";
import { runReplicas } from "./replicas.ts";
import { documentOf, failuresOf, tableOf } from "./report.ts";
import { Results } from "./results.ts";
import { runSoak, VITALS_EVERY_MS } from "./soak.ts";
import { soakText } from "./soak-text.ts";
import type { Vitals } from "./vitals.ts";

/*
 * npm run test:crash -- [matrix | faults | replicas | flood | report]
 * npm run soak -- [--minutes N]
 *
 * Runs what `npm test` runs a sample of, whole; each result is kept in a file as soon as it is known. `report` writes
 * docs/crash-matrix.md from that file, and so does each of the others when nothing of it was left out. The soak writes
 * its part of docs/performance.md when it was as long as it is meant to be.
 */

const USAGE = `npm run test:crash -- [matrix | faults | replicas | flood | report] [options]
npm run soak -- [options]

  --results FILE   where results are kept (default: attestd-crash.jsonl in the folder for temporary files)
  --resume         go on with the results that are there; else those of the same command are begun anew
  --times N        matrix: how often each cell is run, each time with another subject (default 3)
  --only TEXT      matrix, faults: the cells whose title has the text
  --jobs N         matrix: cells at one time (default 6)
  --seed N         matrix, replicas, soak: of what is drawn
  --purchases N    replicas: purchases during the kills (default 500)
  --payments N     flood: authorizations that rest on one small balance (default 5000)
  --minutes N      soak: how long (default 30)
  --dry            matrix: only list the cells`;

/** Slow enough that a dozen services that follow every round leave time for the work. */
const ROUND_MS = 1_000;
const PATIENCE_MS = 300_000;
const COURSES_AT_ONCE = 6;
const REPLICAS = { times: 200, atOnce: 24, killEveryMs: 3_000 };
const FLOOD = { backed: 3, atOnce: 40, honest: 30 };
const SOAK = { heapMiB: 192, buyers: 12, askers: 4, pauseMs: 20, faults: { everyMs: 20_000, forMs: 4_000 } };
const WHOLE_SOAK_MINUTES = 30;
const DOCUMENT = new URL("../../docs/crash-matrix.md", import.meta.url);
const PERFORMANCE = new URL("../../docs/performance.md", import.meta.url);
const SOAK_PLACE = /(<!-- the last soak -->)[\s\S]*(<!-- end of the soak -->)/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    results: { type: "string", default: join(tmpdir(), "attestd-crash.jsonl") },
    resume: { type: "boolean", default: false },
    times: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
    purchases: { type: "string", default: "500" },
    payments: { type: "string", default: "5000" },
    minutes: { type: "string", default: String(WHOLE_SOAK_MINUTES) },
    dry: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [times, jobs, seed] = [Number(values.times), Number(values.jobs), Number(values.seed)];
const [purchases, payments] = [Number(values.purchases), Number(values.payments)];
const results = new Results(values.results);
const revision = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
const COMMANDS: Record<string, () => Promise<boolean>> = { matrix, faults, replicas, flood, report, soak };

const command = COMMANDS[positionals[0] ?? "matrix"];
if (values.help || !command) console.log(USAGE);
else process.exitCode = (await command()) ? 0 : 1;

/** Each command tells whether everything held. */
async function matrix(): Promise<boolean> {
  const cells = CELLS.filter((cell) => titleOf(cell).includes(values.only));
  const runs = drawn(cells, times, seed);
  const missing = values.resume ? results.missing(runs) : runs;
  console.log(`${cells.length} cells, ${runs.length} runs, ${missing.length} to do, ${jobs} at a time, seed ${seed}`);
  if (values.dry) {
    for (const cell of cells) console.log(titleOf(cell));
    return true;
  }
  begin("matrix");
  await onStand(async (stand) => {
    let done = runs.length - missing.length;
    await inParallel(missing, jobs, async (run) => {
      const outcome = await runCell(stand, run);
      results.add({ ...stamp(), matrix: outcome, seed });
      const { wrong, told, seconds } = outcome;
      const told_ = `(${inWords(told)}; ${seconds.toFixed(1)} s)`;
      console.log(`${++done}/${runs.length} ${runTitle(run)}: ${verdict(wrong)} ${told_}`);
    });
  });
  const outcomes = results.all().flatMap((result) => ("matrix" in result ? [result.matrix] : []));
  console.log(["", ...tableOf(outcomes), "", ...failuresOf(outcomes)].join("\n"));
  if (values.only === "") await report();
  return outcomes.every(({ wrong }) => wrong.length === 0);
}

async function faults(): Promise<boolean> {
  begin("fault");
  let held = true;
  await onStand(async (stand) => {
    for (let i = 0; i <= REMEMBERED_ROUNDS; i++) stand.sandbox.algorand.ledger.advance();
    const cells = FAULT_CELLS.filter((cell) => faultTitle(cell).includes(values.only));
    await inParallel(coursesOf(cells), COURSES_AT_ONCE, async (course) => {
      for (const outcome of await runFaults(stand, course)) {
        results.add({ ...stamp(), fault: outcome });
        held &&= outcome.wrong.length === 0;
        console.log(`${faultTitle(outcome.cell)}: ${verdict(outcome.wrong)} (${inWords(outcome.told)})`);
      }
    });
  });
  if (values.only === "") await report();
  return held;
}

async function replicas(): Promise<boolean> {
  begin("replicas");
  const outcome = await onStand((stand) => runReplicas(stand, { ...REPLICAS, purchases, seed }));
  results.add({ ...stamp(), replicas: outcome });
  console.log(JSON.stringify({ ...outcome, together: outcome.together.settlements, hungUp: outcome.hungUp.length }));
  await report();
  return outcome.wrong.length === 0 && outcome.storm.delivered === purchases;
}

async function flood(): Promise<boolean> {
  begin("flood");
  const outcome = await onStand((stand) => runFlood(stand, { ...FLOOD, payments }));
  results.add({ ...stamp(), flood: outcome });
  const told = outcome.told.map(inWords);
  console.log({ ...outcome, told });
  await report();
  return outcome.wrong.length === 0 && outcome.prepared <= FLOOD.backed && told.every((all) => all.endsWith("200"));
}

async function soak(): Promise<boolean> {
  const minutes = Number(values.minutes);
  const outcome = await onStand((stand) => runSoak(stand, { ...SOAK, minutes, seed }, soakProgress()));
  const text = soakText(outcome);
  console.log(text);
  if (minutes >= WHOLE_SOAK_MINUTES) {
    const { at } = stamp();
    const page = readFileSync(PERFORMANCE, "utf8");
    const table = `Soak of ${at.slice(0, 10)}, revision ${revision}\n\n${text}`;
    writeFileSync(
      PERFORMANCE,
      page.replace(SOAK_PLACE, (_, start, end) => `${start}\n\n${table}\n\n${end}`),
    );
  }
  return outcome.wrong.length === 0;
}

/** Prints how the service is, once a minute. */
function soakProgress(): (vitals: Vitals, delivered: number) => void {
  let told = 0;
  return ({ rss, heap, heapTotal }, delivered) => {
    told += 1;
    const minutes = (told * VITALS_EVERY_MS) / 60_000;
    if (!Number.isInteger(minutes)) return;
    const memory = `${rss.toFixed(0)} MiB resident, the heap has ${heapTotal.toFixed(0)} and uses ${heap.toFixed(0)}`;
    console.log(`${minutes} min: ${delivered} delivered, ${memory}`);
  };
}

async function report(): Promise<boolean> {
  writeFileSync(DOCUMENT, documentOf(results.all()));
  return true;
}

/** Forgets earlier results of a kind, unless they are gone on with. */
function begin(kind: "matrix" | "fault" | "replicas" | "flood"): void {
  if (values.resume) return;
  const others = results.all().filter((result) => !(kind in result));
  rmSync(values.results, { force: true });
  for (const result of others) results.add(result);
}

function stamp() {
  return { at: new Date().toISOString(), revision };
}

async function onStand<T>(work: (stand: Stand) => Promise<T>): Promise<T> {
  const sandbox = await startSandbox({ roundMs: ROUND_MS });
  let databases: Databases | undefined;
  try {
    databases = await openDatabases(new Set(["sqlite", "postgres"]));
    const turn = createTurns();
    return await work({ sandbox, databases, start: createStarter(turn), turn, patienceMs: PATIENCE_MS, hurry: false });
  } finally {
    await databases?.close();
    await sandbox.close();
  }
}

function verdict(wrong: readonly string[]): string {
  return wrong.length === 0 ? "held" : `WRONG: ${wrong.join("; ")}`;
}
