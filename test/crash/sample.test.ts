import { type Sandbox, startSandbox } from "@attestd/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Outcome, runCell } from "./cell.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { coursesOf, FAULT_SAMPLE, type FaultOutcome, faultTitle, REMEMBERED_ROUNDS, runFaults } from "./faults.ts";
import { type FloodOutcome, runFlood } from "./flood.ts";
import { CELLS, inParallel, runTitle, sampleOf } from "./matrix.ts";
import { createStarter, createTurns } from "./process.ts";
import { type ReplicasOutcome, runReplicas } from "./replicas.ts";

/*
 * The fixed sample of what `npm run test:crash` runs whole. One file, and all of it at once: a cell mostly waits for
 * rounds, for time-outs and for processes to start, and leaves that time to the others.
 */

/** Long enough that a busy machine keeps up: every service here reads every round. */
const ROUND_MS = 800;
const CELLS_AT_ONCE = 3;
const PATIENCE_MS = 600_000;
const FLOOD = { payments: 60, backed: 3, atOnce: 30, honest: 3 };
const TRIAL = { times: 200, purchases: 27, atOnce: 18, killEveryMs: 3_000, seed: 1 };

const cells = sampleOf(CELLS);
let sandbox: Sandbox;
let databases: Databases;
let crashes: Map<string, Outcome>;
let faults: Map<string, FaultOutcome>;
let replicas: PromiseSettledResult<ReplicasOutcome>;
let flood: PromiseSettledResult<FloodOutcome>;

beforeAll(async () => {
  [sandbox, databases] = await Promise.all([
    startSandbox({ roundMs: ROUND_MS }),
    openDatabases(new Set(["sqlite", "postgres"])),
  ]);
  for (let i = 0; i <= REMEMBERED_ROUNDS; i++) sandbox.algorand.ledger.advance();
  const turn = createTurns();
  const stand = { sandbox, databases, start: createStarter(turn), turn, patienceMs: PATIENCE_MS, hurry: true };
  const courses = coursesOf(FAULT_SAMPLE);
  // Whatever fails, the others are carried to their end: nothing may run on when the sandbox is closed.
  const [crashed, broken, [atWork, flooded]] = await Promise.all([
    inParallel(cells, CELLS_AT_ONCE, (cell) => runCell(stand, cell)),
    inParallel(courses, courses.length, (course) => runFaults(stand, course)),
    Promise.allSettled([runReplicas(stand, TRIAL), runFlood(stand, FLOOD)]),
  ]);
  replicas = atWork;
  flood = flooded;
  crashes = new Map(crashed.map((outcome) => [runTitle(outcome.cell), outcome]));
  faults = new Map(broken.flat().map((outcome) => [faultTitle(outcome.cell), outcome]));
}, 900_000);
afterAll(async () => {
  await databases.close();
  await sandbox.close();
});

describe("a purchase whose process is killed", () => {
  test.each(cells.map(runTitle))("%s: is paid once, attested once, and delivered", (title) => {
    expect(crashes.get(title)?.wrong).toEqual([]);
  });
});

describe("a purchase during a fault", () => {
  test.each(FAULT_SAMPLE.map(faultTitle))("%s: comes to its right end", (title) => {
    expect(faults.get(title)?.wrong).toEqual([]);
  });
});

describe("three replicas", () => {
  const outcome = () => fulfilled(replicas);

  test("that get one payment 200 times at once settle it once, and answer the same 200 times", () => {
    const { answers, settlements } = outcome().together;
    expect(answers.map((answer) => answer.slice(0, 4))).toEqual(["200 "]);
    expect(settlements).toBe(1);
  });

  test("find the purchase of a buyer who hung up, whichever of them is asked", () => {
    const { hungUp } = outcome();
    expect(hungUp).toHaveLength(3);
    expect([...new Set(hungUp)].map((answer) => answer.slice(0, 4))).toEqual(["200 "]);
  });

  test("of which one after the other is killed deliver every purchase", () => {
    const { storm } = outcome();
    expect(storm.killed).toBeGreaterThan(0);
    expect(storm.delivered).toBe(TRIAL.purchases);
  });

  test("have made one payment and one attestation of each purchase", () => {
    expect(outcome().wrong).toEqual([]);
  });
});

describe("many authorizations that rest on one small balance", () => {
  const outcome = () => fulfilled(flood);

  test("are taken up as far as the balance goes, and settled no further", () => {
    const { answers, prepared, settlements } = outcome();
    expect(prepared).toBeGreaterThan(0);
    expect(prepared).toBeLessThanOrEqual(FLOOD.backed);
    expect(answers["200"]).toBe(prepared);
    expect(settlements).toBe(prepared + FLOOD.honest);
  });

  test("hinder nobody else, and cost nothing", () => {
    expect(outcome().told.map((told) => told.at(-1))).toEqual(Array(FLOOD.honest).fill("200"));
    expect(outcome().wrong).toEqual([]);
  });
});

function fulfilled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
