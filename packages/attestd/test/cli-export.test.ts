import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testBatch } from "../../../test/bundles/batches.ts";
import {
  testAttestor,
  testBaseBlock,
  testBlockBundle,
  testBundle,
  testHistory,
  testReceipt,
} from "../../../test/bundles/bundles.ts";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { usdcTransfer } from "../../web/example.ts";

const attestor = testAttestor();
const transfer = testBundle({ chain: "base", txnBytes: usdcTransfer() });
const failed = testBundle({ chain: "base", txnBytes: usdcTransfer(), statement: { s: 0 } });
const forged = { ...transfer, source: { ...transfer.source, hashSha256: "ab".repeat(32) } };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  const files: Record<string, unknown> = {
    "keys.json": testHistory(),
    "a.json": transfer,
    "b.json": failed,
    "c.json": forged,
    "d.json": testBlockBundle({ block: testBaseBlock(1) }),
    '=cmd|",1.json': transfer,
    "batch.json": testBatch(),
    "a.receipt.json": { format: "jws", signature: testReceipt(attestor) },
  };
  for (const [name, value] of Object.entries(files)) await writeFile(join(folder.path, name), JSON.stringify(value));
});
afterAll(() => folder[Symbol.asyncDispose]());
const run = (...args: string[]) => attestd(["export", ...args, "--keys", "keys.json"], { cwd: folder.path });

describe("attestd export", () => {
  test("has a row for each transaction of a batch", async () => {
    const { items } = testBatch();
    const { code, stdout } = await run("batch.json", "--json");
    const rows = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ file, verdict, transaction }) => [file, verdict, transaction])).toEqual(
      items.map(({ source }, i) => [`batch.json#/items/${i}`, "Verified", source.txnId]),
    );
    expect(code).toBe(0);
  });

  test("writes what each bundle proves, and of one that is not verified its verdict alone", async () => {
    const { code, stdout, stderr } = await run("a.json", "b.json", "c.json", "d.json", "--json");
    const [paid, undone, refused, block, ...more] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(more).toEqual([]);
    expect(paid).toMatchObject({ file: "a.json", chain: "base", transaction: transfer.source.txnId });
    expect(paid).toMatchObject({ outcome: "succeeded", unit: "USDC", bundle: expect.stringMatching(/^[\w-]{43}$/) });
    // The calldata of web/example.ts, read by hand: 25,000,000 units of USDC, which has 6 decimals.
    expect(paid.amount).toBe("25");
    expect(paid.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect([paid.paid_on, paid.remarks]).toEqual([expect.any(String), expect.stringContaining("with its receipt")]);
    // A sum of the amounts counts only what moved.
    expect(undone).toMatchObject({ outcome: "failed", what: expect.stringContaining("Failed on Base: nothing moved") });
    expect(undone).not.toHaveProperty("amount");
    expect(Object.keys(refused).toSorted()).toEqual(["file", "remarks", "verdict"]);
    expect(refused).toMatchObject({ verdict: "Not verified", remarks: expect.stringContaining("hashPreimage") });
    expect(block).toMatchObject({ chain: "base", what: expect.stringMatching(/^Block \d+ of Base$/) });
    expect(block).not.toHaveProperty("transaction");
    expect(stderr).toContain("3 verified, 1 not verified, 1 receipt verified");
    expect(code).toBe(1);
  });

  test("as CSV of RFC 4180, in which no cell is a formula", async () => {
    const { code, stdout } = await run('=cmd|",1.json');
    const [head, row, end, ...more] = stdout.split("\r\n");
    expect(head).toMatch(/^file,verdict,remarks,what,chain,transaction,block,/);
    expect(row).toMatch(/^"'=cmd\|"",1\.json",Verified,/);
    expect([end, more]).toEqual(["", []]);
    expect(code).toBe(0);
  });

  test("into a file, which it replaces only with --force", async () => {
    const out = ["a.json", "--out", "table.csv"];
    expect(await run(...out)).toMatchObject({ code: 0, stdout: expect.stringContaining("Saved table.csv") });
    const saved = await readFile(join(folder.path, "table.csv"));
    expect(saved.subarray(0, 7).toString("latin1")).toBe("\u00ef\u00bb\u00bffile");
    expect(await run(...out)).toMatchObject({ code: 2, stderr: expect.stringContaining("table.csv is there already") });
    expect(await run(...out, "--force")).toMatchObject({ code: 0 });
  });
});
