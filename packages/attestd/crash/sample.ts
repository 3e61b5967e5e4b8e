import { type Sandbox, startSandbox } from "@attestd/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buy, priceOf } from "./buyer.ts";
import { type Outcome, runCell, type Stand } from "./cell.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { coursesOf, FAULT_SAMPLE, type FaultOutcome, faultTitle, runFaults } from "./faults.ts";
import { CELLS, inParallel, sampleOf, titleOf } from "./matrix.ts";
import { payerOf } from "./payers.ts";
import { createStarter } from "./process.ts";
import { buyInStorm, hangUp, Replicas, sendTogether } from "./replicas.ts";

/*
 * The fixed sample of what `npm run test:crash` runs whole. One file, and all of it at once: a cell mostly waits for
 * rounds, for time-outs and for processes to start, and leaves that time to the others.
 */

const ROUND_MS = 250;
/** Rounds for which algod remembers a transaction; the sample is older, so that the indexer is asked for it. */
const ALGOD_REMEMBERS = 1_000;
const CELLS_AT_ONCE = 3;
const COURSES_AT_ONCE = 20;
const PATIENCE_MS = 90_000;

const cells = sampleOf(CELLS);
let sandbox: Sandbox;
let databases: Databases;
let stand: Stand;
let crashes: Map<string, Outcome>;
let faults: Map<string, FaultOutcome>;
let replicas: Awaited<ReturnType<typeof replicasAtWork>>;

beforeAll(async () => {
  [sandbox, databases] = await Promise.all([
    startSandbox({ roundMs: ROUND_MS }),
    openDatabases(new Set(["sqlite", "postgres"])),
  ]);
  for (let i = 0; i <= ALGOD_REMEMBERS; i++) sandbox.algorand.ledger.advance();
  stand = { sandbox, databases, start: createStarter(), patienceMs: PATIENCE_MS, hurry: true };
  const [atWork, crashed, broken] = await Promise.all([
    replicasAtWork(),
    inParallel(cells, CELLS_AT_ONCE, (cell) => runCell(stand, cell)),
    inParallel(coursesOf(FAULT_SAMPLE), COURSES_AT_ONCE, (course) => runFaults(stand, course)),
  ]);
  replicas = atWork;
  crashes = new Map(crashed.map((outcome) => [titleOf(outcome.cell), outcome]));
  faults = new Map(broken.flat().map((outcome) => [faultTitle(outcome.cell), outcome]));
}, 180_000);
afterAll(async () => {
  await databases.close();
  await sandbox.close();
});

describe("a purchase whose process is killed", () => {
  test.each(cells.map(titleOf))("%s: is paid once, attested once, and delivered", (title) => {
    expect(crashes.get(title)?.wrong).toEqual([]);
  });
});

describe("a purchase during a fault", () => {
  test.each(FAULT_SAMPLE.map(faultTitle))("%s: comes to its right end", (title) => {
    expect(faults.get(title)?.wrong).toEqual([]);
  });
});

/** Three replicas, and what becomes of all that is bought of them. */
async function replicasAtWork() {
  await using three = await Replicas.start(stand, 3);
  const body = { txid: sandbox.sampleTransactions.base as string };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const pay = payerOf(sandbox);
  const sign = async () => pay("algorand", await priceOf(three.url(0), body, signal));

  const together = { payment: await sign(), times: 200 };
  const bodies = await sendTogether(three, body, together.payment, together.times);
  const settlements = three.settlements;

  const left = await sign();
  await hangUp({ url: three.url(1), deployment: three.deployment }, body, left);
  const found = await Promise.all([0, 1, 2].map((n) => buy(() => three.url(n), body, left, signal)));

  const storm = await buyInStorm({ sandbox }, three, { purchases: 30, atOnce: 15, killEveryMs: 1_000, seed: 1 });
  const bundle = (text: string | undefined) => text?.replace(/^200 /, "") ?? "";
  const wrong = await three.judge([
    { payment: together.payment, bundle: bundle([...bodies][0]) },
    { payment: left, bundle: bundle(found[0]?.text) },
    ...storm.ended,
  ]);
  return { bodies, settlements, found, storm, wrong };
}

describe("three replicas", () => {
  test("that get one payment 200 times at once settle it once, and answer the same 200 times", () => {
    const { bodies, settlements } = replicas;
    expect([...bodies].map((body) => body.slice(0, 4))).toEqual(["200 "]);
    expect(settlements).toBe(1);
  });

  test("find the purchase of a buyer who hung up, whichever of them is asked", () => {
    expect(replicas.found.map(({ told }) => told)).toEqual([["200"], ["200"], ["200"]]);
    expect(new Set(replicas.found.map(({ text }) => text)).size).toBe(1);
  });

  test("of which one after the other is killed deliver every purchase", () => {
    const { ended, killed } = replicas.storm;
    expect(killed).toBeGreaterThan(0);
    expect(ended.filter(({ bundle }) => bundle === undefined)).toEqual([]);
  });

  test("have made one payment and one attestation of each purchase", () => {
    expect(replicas.wrong).toEqual([]);
  });
});
