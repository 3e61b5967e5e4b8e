import { DecodeError } from "@attestd/proof/encoding";
import { testAlgorandBlock, testBaseBlock } from "@attestd/proof/testing";
import { afterEach, expect, it } from "vitest";
import { blockWork, runBlockWork } from "./block-work.ts";
import { type BlockWorkers, createBlockWorkers } from "./block-workers.ts";

const here = blockWork(runBlockWork);
const open: BlockWorkers[] = [];
afterEach(async () => {
  for (const workers of open.splice(0)) await workers.close();
});

function start(most: number): BlockWorkers {
  const workers = createBlockWorkers(most);
  open.push(workers);
  return workers;
}

const { transactions } = testBaseBlock(30);

it("gives on threads what it gives here, more at once than there are threads", async () => {
  const { work } = start(2);
  const proofs = await Promise.all(transactions.map((_, index) => work.proveItem(transactions, index)));
  for (const [index, proof] of proofs.entries()) expect(proof).toEqual(await here.proveItem(transactions, index));
});

it("tells data that are malformed from defects, and goes on after both", async () => {
  const { work } = start(1);
  const malformed = work.readAlgorandHeader(testAlgorandBlock(1).header, 256);
  await expect(malformed).rejects.toBeInstanceOf(DecodeError);
  const defect = work.proveItem(transactions, -1);
  await expect(defect).rejects.not.toBeInstanceOf(DecodeError);
  expect(await work.proveItem(transactions, 3)).toEqual(await here.proveItem(transactions, 3));
});

it("rejects what is under way or waiting when it is closed, and what comes after", async () => {
  const workers = start(1);
  const asked = [0, 1, 2].map((index) => workers.work.proveItem(transactions, index));
  const settled = Promise.allSettled(asked);
  await workers.close();
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await expect(workers.work.proveItem(transactions, 0)).rejects.toThrow("were ended");
});
