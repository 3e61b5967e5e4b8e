import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkpointEntry, checkpointRoot, encodeCheckpointTable } from "@attestd/proof/evidence";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testEvidence } from "../../../../../test/bundles/evidence.ts";
import { temporaryFolder } from "../../../../../test/helpers/temporary-folder.ts";
import { watchTable } from "./table-watch.ts";

const { checkpoint, evidence } = testEvidence();
const { genesisHash, round } = checkpoint;
const tableOf = (...weights: number[]) => {
  const later = weights.map((lnProvenWeight) => checkpointEntry({ ...checkpoint, lnProvenWeight }));
  const entries = Buffer.concat([checkpointEntry(checkpoint), ...later]);
  return { genesisHash, firstRound: round, interval: 16, entries };
};

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let now = 0;
const logged: string[] = [];
let watch: ReturnType<typeof watchTable>;
beforeAll(async () => {
  folder = await temporaryFolder();
  const line = (_: object, text: string) => void logged.push(text);
  const log = { info: line, warn: line } as never;
  watch = watchTable({ path: join(folder.path, "t"), genesisHash, now: () => now, log });
});
afterAll(async () => {
  await watch.close();
  await folder[Symbol.asyncDispose]();
});

/** Returns what is published after another process has replaced the file. */
async function after(bytes: Uint8Array) {
  await writeFile(join(folder.path, "draft"), bytes);
  await rename(join(folder.path, "draft"), join(folder.path, "t"));
  now += 1_000;
  const published = await watch.current();
  return published && [published.size, published.root, published.last.length];
}

it("publishes what the file has now, and keeps it while the file is none, cut or of another network", async () => {
  expect(await watch.current()).toBeUndefined();
  const [first, second] = [tableOf(7), tableOf(7, ...Array(30).fill(8))];
  expect(await after(encodeCheckpointTable(first))).toEqual([2, checkpointRoot(first), 2]);
  const other = { ...second, genesisHash: Buffer.alloc(32).toString("base64") };
  for (const wrong of [encodeCheckpointTable(second).subarray(0, -1), new Uint8Array(), encodeCheckpointTable(other)])
    expect(await after(wrong)).toEqual([2, checkpointRoot(first), 2]);
  expect(logged.filter((text) => text.includes("cannot be read"))).toHaveLength(3);
  expect(await after(encodeCheckpointTable(second))).toEqual([32, checkpointRoot(second), 16]);
  // Within a second the file is not checked again.
  now -= 999;
  const path = { index: 0, size: 32 };
  expect(await watch.rest(evidence, 32)).toMatchObject({ items: [{}, { path }, {}, {}, { path }] });
  expect(await watch.rest(evidence, 33)).toBeUndefined();
});
