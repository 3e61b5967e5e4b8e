import { readdirSync, readFileSync } from "node:fs";
import { constants, platform } from "node:os";
import { afterEach, expect, it } from "vitest";
import { testAlgorandBlock, testBaseBlock } from "../../../../../test/bundles/bundles.ts";
import * as algorandWork from "../../chains/algorand/block-work.ts";
import * as baseWork from "../../chains/base/block-work.ts";
import { blockWork, type RunWork } from "../../chains/block-work.ts";
import { createWorkerPool, type WorkerPool } from "./pool.ts";

const BACKGROUND = constants.priority.PRIORITY_BELOW_NORMAL;
const here = blockWork(baseWork);
const runBy =
  (pool: WorkerPool, chain: string): RunWork =>
  (name, args) =>
    pool.run(new URL(`../../chains/${chain}/block-work.ts`, import.meta.url).href, [name, args]);
const open: WorkerPool[] = [];
afterEach(async () => {
  for (const pool of open.splice(0)) await pool.close();
});

function start(maxWorkers: number, maxJobsPerWorker = 1) {
  const pool = createWorkerPool(new URL("../../chains/block-worker.ts", import.meta.url), {
    maxWorkers,
    maxJobsPerWorker,
  });
  open.push(pool);
  const { readAlgorandHeader } = blockWork(algorandWork, runBy(pool, "algorand"));
  return { pool, work: { readAlgorandHeader, ...blockWork(baseWork, runBy(pool, "base")) } };
}

const { transactions } = testBaseBlock(30);

it.each([
  [2, 1],
  [2, 7],
  [1, 100],
])("returns with %i workers of %i jobs what the calling thread returns", async (maxWorkers, maxJobsPerWorker) => {
  const { work } = start(maxWorkers, maxJobsPerWorker);
  const proofs = await Promise.all(transactions.map((_, index) => work.proveItem(transactions, index)));
  for (const [index, proof] of proofs.entries()) expect(proof).toEqual(await here.proveItem(transactions, index));
});

it.skipIf(platform() !== "linux")("lowers the priority of background workers, and of no other thread", async () => {
  const before = nices();
  const pool = createWorkerPool(new URL("../../chains/block-worker.ts", import.meta.url), {
    maxWorkers: 1,
    background: true,
  });
  open.push(pool);
  await blockWork(baseWork, runBy(pool, "base")).proveItem(transactions, 0);
  const lowered = (all: readonly number[]) => all.filter((nice) => nice === BACKGROUND).length;
  expect(lowered(nices())).toBe(lowered(before) + 1);
});

/** The priority of each thread of this process: the 19th field (proc(5)), the 17th behind the name in parentheses. */
function nices(): number[] {
  return readdirSync("/proc/self/task").map((id) => {
    const fields = readFileSync(`/proc/self/task/${id}/stat`, "utf8").split(") ").at(-1)?.split(" ");
    return Number(fields?.[16]);
  });
}

it("rejects malformed data and defects with different errors, and continues after both", async () => {
  const { work } = start(1, 3);
  const malformed = work.readAlgorandHeader(testAlgorandBlock(1).header, 256);
  const defect = work.proveItem(transactions, -1);
  const sound = work.proveItem(transactions, 3);
  await expect(malformed).rejects.toMatchObject({ name: "ProofError", code: "malformed" });
  await expect(defect).rejects.not.toMatchObject({ name: "ProofError", code: "malformed" });
  expect(await sound).toEqual(await here.proveItem(transactions, 3));
});

it("rejects running, waiting and later jobs when it is closed", async () => {
  const { pool, work } = start(1);
  const asked = [0, 1, 2].map((index) => work.proveItem(transactions, index));
  const settled = Promise.allSettled(asked);
  await pool.close();
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await expect(work.proveItem(transactions, 0)).rejects.toThrow("were ended");
});
