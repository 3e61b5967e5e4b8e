import { afterAll, beforeAll, expect, test } from "vitest";
import { buyList, settlementWatch } from "../helpers/list-purchase.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type Deployment, startDeployment } from "./deployment.ts";
import { baseSources } from "./many-sources.ts";

const watch = settlementWatch();
let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ onRequest: watch.onRequest });
}, 60_000);
afterAll(() => deployment.close());

test("a list is bought in batches; after kill -9 the same command goes on, and every item is bought once", async () => {
  await using folder = await temporaryFolder();
  const ids = await baseSources(deployment.sandbox, 12);
  const more = ["--batch-size", "5"];
  const bought = await buyList(deployment, watch, { folder: folder.path, ids, more, killAt: [2] });
  expect(bought.ended).toMatchObject({ code: 0, stderr: "" });
  expect(bought.ended.stdout).toContain("resuming   4 of 12 are done");
  expect(bought).toMatchObject({ killed: 1, settlements: 3, notes: 3 });
  expect(bought.saved.toSorted()).toEqual(ids.map((id) => `${id}.json`).toSorted());
  expect(bought.rows.map((row) => ids.findIndex((id) => row.includes(id)))).toEqual([...ids.keys()]);
  for (const row of bought.rows) expect(row).toContain("Verified");
});
