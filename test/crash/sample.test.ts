import { type Sandbox, startSandbox } from "@attestd/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KillableFacilitator, startKillableFacilitator } from "../e2e/own-facilitator.ts";
import { type Outcome, runCell } from "./cell.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { type FailoverOutcome, runFailover } from "./failover.ts";
import { FAILOVER_SAMPLE, failoverRuns, failoverTitle } from "./failover-cells.ts";
import { FAULT_SAMPLE, type FaultOutcome, faultTitle, REMEMBERED_ROUNDS, runFaults, sequencesOf } from "./faults.ts";
import { type FloodOutcome, runFlood } from "./flood.ts";
import { type KmsOutcome, runKms } from "./kms.ts";
import { KMS_SAMPLE, kmsRuns, kmsTitle } from "./kms-cells.ts";
import { CELLS, runTitle, sampleOf } from "./matrix.ts";
import { createStarter, createTurns } from "./process.ts";
import { type ReplicasOutcome, runReplicas } from "./replicas.ts";
import { runSigner, type SignerOutcome } from "./signer.ts";
import { SIGNER_SAMPLE, signerRuns, signerTitle } from "./signer-cells.ts";

/*
 * A fixed sample of the cells of `npm run test:crash`, in one file and several at once: a cell mostly waits for rounds,
 * time-outs and the start of processes, and other cells run meanwhile.
 */

const ROUND_MS = 1_000;
/** Each reads every round, also on a slow machine: more of them would leave it no time for anything else. */
const DEPLOYMENTS_AT_ONCE = 8;
/** As long as all other cells take: one waits for a settlement that never comes. */
const SETTLE_MS = 20_000;
const PATIENCE_MS = 600_000;
const FLOOD = { payments: 60, backed: 3, atOnce: 30, honest: 3 };
const TRIAL = { times: 200, purchases: 27, atOnce: 18, killEveryMs: 3_000, seed: 1 };

const cells = sampleOf(CELLS);
let sandbox: Sandbox;
let databases: Databases;
let second: KillableFacilitator;
let crashes: Map<string, Outcome>;
let failovers: Map<string, FailoverOutcome>;
let kms: Map<string, KmsOutcome>;
let signers: Map<string, SignerOutcome>;
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
  const testBed = {
    sandbox,
    databases,
    start: createStarter(turn),
    turn,
    patienceMs: PATIENCE_MS,
    expireLeasesAtOnce: true,
    settleMs: SETTLE_MS,
  };
  second = await startKillableFacilitator(sandbox);
  const turnAtWork = createTurns(DEPLOYMENTS_AT_ONCE);
  const each = <T, R>(runs: readonly T[], run: (one: T) => Promise<R>) =>
    Promise.all(runs.map((one) => turnAtWork(() => run(one))));
  // A failure must not end the others: nothing may still run when the sandbox closes.
  const [broken, [atWork, flooded], crashed, failed, signed, unsigned] = await Promise.all([
    each(sequencesOf(FAULT_SAMPLE), (sequence) => runFaults(testBed, sequence)),
    Promise.allSettled([turnAtWork(() => runReplicas(testBed, TRIAL)), turnAtWork(() => runFlood(testBed, FLOOD))]),
    each(cells, (cell) => runCell(testBed, cell)),
    each(failoverRuns(FAILOVER_SAMPLE, 1, 1), (run) => runFailover(testBed, second.url, run)),
    each(kmsRuns(KMS_SAMPLE, 1), (run) => runKms(testBed, run)),
    each(signerRuns(SIGNER_SAMPLE, 1, 1), (run) => runSigner(testBed, run)),
  ]);
  replicas = atWork;
  flood = flooded;
  crashes = new Map(crashed.map((outcome) => [runTitle(outcome.cell), outcome]));
  failovers = new Map(failed.map((outcome) => [failoverTitle(outcome.run), outcome]));
  kms = new Map(signed.map((outcome) => [kmsTitle(outcome.run), outcome]));
  signers = new Map(unsigned.map((outcome) => [signerTitle(outcome.run), outcome]));
  faults = new Map(broken.flat().map((outcome) => [faultTitle(outcome.cell), outcome]));
}, 900_000);
afterAll(async () => {
  await second.kill();
  await databases.close();
  await sandbox.close();
});

describe("a purchase whose process is killed", () => {
  test.each(cells.map(runTitle))("%s: is paid once, attested once, and delivered", (title) => {
    expect(crashes.get(title)?.wrong).toEqual([]);
  });
});

describe("a purchase whose process is killed while the first of two facilitators settles", () => {
  test.each(FAILOVER_SAMPLE.map(failoverTitle))("%s: is paid once, attested once, and delivered", (title) => {
    expect(failovers.get(title)?.wrong).toEqual([]);
  });
});

describe("a purchase whose keys are in a KMS", () => {
  test.each(KMS_SAMPLE.map(kmsTitle))("%s: is paid once, attested once, and delivered", (title) => {
    expect(kms.get(title)?.wrong).toEqual([]);
  });
});

describe("a purchase whose signer fails", () => {
  test.each(SIGNER_SAMPLE.map(signerTitle))("%s: is paid once, attested once, and delivered", (title) => {
    expect(signers.get(title)?.wrong).toEqual([]);
  });
});

describe("a purchase during a fault", () => {
  test.each(FAULT_SAMPLE.map(faultTitle))("%s: has the expected end", (title) => {
    expect(faults.get(title)?.wrong).toEqual([]);
  });
});

describe("three replicas", () => {
  const outcome = () => fulfilled(replicas);

  test("settle one payment once and give the same answer when it is sent 200 times at once", () => {
    const { answers, settlements } = outcome().together;
    expect(answers.map((answer) => answer.slice(0, 4))).toEqual(["200 "]);
    expect(settlements).toBe(1);
  });

  test("refuse no payment while one of them is about to settle it", () => {
    const { apart } = outcome();
    expect(apart.map((answer) => answer.slice(0, 4))).toEqual(["200 ", "200 "]);
    expect(new Set(apart).size).toBe(1);
  });

  test("each return the bundle of a buyer that closed its connection to one of them", () => {
    const { hungUp } = outcome();
    expect(hungUp).toHaveLength(3);
    expect([...new Set(hungUp)].map((answer) => answer.slice(0, 4))).toEqual(["200 "]);
  });

  test("deliver every purchase while they are killed one after the other", () => {
    const { storm } = outcome();
    expect(storm.killed).toBeGreaterThan(0);
    expect(storm.delivered).toBe(TRIAL.purchases);
  });

  test("have one payment and one attestation for each purchase", () => {
    expect(outcome().wrong).toEqual([]);
  });
});

describe("many authorizations on one small balance", () => {
  const outcome = () => fulfilled(flood);

  test("are committed and settled only as far as the balance goes", () => {
    const { floodAnswers, begun, settlements } = outcome();
    expect(begun).toBeGreaterThan(0);
    expect(begun).toBeLessThanOrEqual(FLOOD.backed);
    expect(floodAnswers["200"]).toBe(begun);
    expect(settlements).toBe(begun + FLOOD.honest);
  });

  test("do not prevent other purchases, and cost nothing", () => {
    expect(outcome().otherAnswers.map((answers) => answers.at(-1))).toEqual(Array(FLOOD.honest).fill("200"));
    expect(outcome().wrong).toEqual([]);
  });
});

function fulfilled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
