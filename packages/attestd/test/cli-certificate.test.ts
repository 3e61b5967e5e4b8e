import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { itemBundles } from "@attestd/proof";
import { pointerUrl } from "@attestd/web";
import { PDFDocument } from "@cantoo/pdf-lib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testBatch } from "../../../test/bundles/batches.ts";
import {
  testAttestor,
  testBaseBlock,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
} from "../../../test/bundles/bundles.ts";
import { attestd, type CommandOptions } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";

const SANDBOX = "algorand:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const attestor = testAttestor();
const bundle = testBundle({ round: 46_581_204 });

describe("attestd certificate", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const files: Record<string, unknown> = {
      "good.json": bundle,
      "batch.json": testBatch(),
      "bad.json": { ...bundle, source: { ...bundle.source, hashSha256: "ab".repeat(32) } },
      "stranger.json": testBundle({ attestor: testAttestor("stranger") }),
      "sandbox.json": testBundle({ ledger: SANDBOX }),
      "block.json": testBlockBundle({ block: testBaseBlock(1) }),
      "inclusion.json": testInclusionBundle({ block: testBaseBlock(3) }),
      "keys.json": testHistory(),
      "sandbox-keys.json": testHistory(undefined, SANDBOX),
      // The attestor's present address is that of its newest key.
      "moved.json": testHistory([
        { attestor, fromRound: 1 },
        { attestor: testAttestor("next"), fromRound: 50_000_000 },
      ]),
    };
    for (const [name, value] of Object.entries(files)) await writeFile(join(folder.path, name), JSON.stringify(value));
  });
  afterAll(() => folder[Symbol.asyncDispose]());
  const run = (args: string, options: CommandOptions = {}) =>
    attestd(args.split(" "), { cwd: folder.path, ...options });
  const read = (name: string) => readFile(join(folder.path, name), "utf8");

  test("makes a PDF that contains its bundle and is verified like it", async () => {
    const made = await run("certificate good.json --keys keys.json");
    // The first 64 bits of the SHA-256 of its JSON in RFC 8785's form, which for ASCII is that with sorted members.
    const sorted = (_: string, value: unknown) =>
      typeof value === "object" ? Object.fromEntries(Object.entries(value as object).sort()) : value;
    const digest = createHash("sha256").update(JSON.stringify(bundle, sorted)).digest("hex").slice(0, 16);
    const number = digest.toUpperCase().match(/.{4}/g)?.join("-");
    const stdout = `✓ Saved good.pdf\n  ALGO payment on Algorand, 1.00 ALGO\n  certificate ${number}\n`;
    expect(made).toEqual({ code: 0, stderr: "", stdout });
    expect(await run("verify good.pdf --keys keys.json")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ Verified {2}good\.pdf\n/),
    });
    const pdf = await PDFDocument.load(await readFile(join(folder.path, "good.pdf")));
    for (const page of pdf.getPages()) expect(page.getSize()).toEqual({ width: 595.28, height: 841.89 });
    expect(pdf.getTitle()).toBe(`Certificate of attestation ${number}: ALGO payment on Algorand, 1.00 ALGO`);
  });

  test.each(["good", "block", "inclusion"])("makes an SVG of %s with all of its ids in full", async (name) => {
    const made = await run(`certificate ${name}.json --keys moved.json --out ${name}.svg --paper letter`);
    expect(made.code, made.stderr).toBe(0);
    const svg = await read(`${name}.svg`);
    const original = JSON.parse(await read(`${name}.json`));
    const text = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, line]) => line).join("");
    for (const id of [original.attest.txnId, attestor.kid, attestor.keySha256, attestor.algorandAddress])
      expect(text).toContain(id);
    for (const id of [
      original.source?.txnId,
      original.block?.blockHash,
      (original.block ?? original.source).hashSha256,
    ])
      if (id !== undefined) expect(text).toContain(id);
    expect(text).toMatch(/Verified on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, by attestd \d+\.\d+\.\d+, offline/);
    expect(text).toContain(pointerUrl("https://attestd.example", original));
    expect(svg).toMatch(/ width="612pt" height="(792|1584)pt" /);
    const verified = await run(`verify ${name}.svg --keys moved.json`);
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringContaining("The certificate's text matches its bundle. Only its maker states that it was checked"),
    ]);
    expect(text).toMatch(/a key list that the certificate&apos;s maker gave, written on \d{4}-\d\d-\d\d/);
  });

  test("states the ledger comparison and the recorded time after --chain", async () => {
    const report = { checks: { chainSource: "pass", chainAttest: "pass" }, recordedAt: "2026-03-04T05:06:07.000Z" };
    let answer = { status: 200, body: JSON.stringify(report) };
    await using server = createServer((_, response) => response.writeHead(answer.status).end(answer.body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const make = () => run(`certificate good.json --keys keys.json --chain --service ${service} --out asked.svg`);

    expect((await make()).code).toBe(0);
    const asked = await read("asked.svg");
    expect(asked).toContain("compared with the ledger");
    expect(asked).toContain("2026-03-04 05:06:07 UTC");
    expect(asked).not.toMatch(/as the bundle states|estimated/);

    answer = { status: 503, body: '{"detail":"The chain cannot be asked now."}' };
    expect(await make()).toMatchObject({ code: 4, stdout: expect.stringContaining("couldn't ask the ledger") });
    expect(await read("asked.svg")).toMatch(/Verified on [\d-]+ [\d:]+ UTC, by attestd [\d.]+, offline/);
  });

  test("of a whole batch is one file, which verify, export and inspect take for its items", async () => {
    const made = await run("certificate batch.json --keys keys.json --whole --out whole.pdf");
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(
      /^✓ Saved whole\.pdf\n {2}2 transactions, recorded together\n {2}certificate [0-9A-F-]{19}\n$/,
    );
    const verified = await run("verify whole.pdf --keys keys.json --json");
    const reports = verified.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(reports.map(({ file, verified: good, certificate }) => [file, good, certificate?.words])).toEqual([
      ["whole.pdf#/items/0", true, "pass"],
      ["whole.pdf#/items/1", true, "pass"],
    ]);
    const table = await run("export whole.pdf --keys keys.json");
    expect(table.stdout.trim().split("\r\n")).toHaveLength(3);
    expect((await run("inspect whole.pdf")).stdout).toMatch(
      /^Certificate \(PDF\) of: Attestation of a batch.*\n.*1 on Algorand, 1 on Base/,
    );
  });

  test("of a whole batch says that it was made offline where one item could not be compared", async () => {
    const report = { checks: { chainSource: "pass", chainAttest: "pass" }, recordedAt: "2026-03-04T05:06:07.000Z" };
    let asked = 0;
    let isAway = true;
    await using server = createServer((_, response) =>
      response.writeHead(isAway && asked++ > 0 ? 503 : 200).end(JSON.stringify(report)),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const make = () =>
      run(`certificate batch.json --keys keys.json --whole --chain --service ${service} --out chain.svg`);
    expect(await make()).toMatchObject({ code: 4, stdout: expect.stringContaining("couldn't ask the ledger") });
    expect(await read("chain.svg")).toMatch(/Verified on [\d-]+ [\d:]+ UTC, by attestd [\d.]+, offline/);
    isAway = false;
    expect((await make()).code).toBe(0);
    expect(await read("chain.svg")).toContain("compared with the ledger");
  });

  test("of a whole batch is made of its items in files of their own, if none is missing", async () => {
    await mkdir(join(folder.path, "items"));
    for (const item of itemBundles(testBatch()))
      await writeFile(join(folder.path, "items", `${item.proof.index}.json`), JSON.stringify(item));
    expect(await run("certificate items --keys keys.json --whole --out of-items.svg")).toMatchObject({
      code: 0,
      stderr: "",
    });
    await run("certificate batch.json --keys keys.json --whole --out of-answer.svg");
    const withoutTime = async (name: string) =>
      (await read(name)).replaceAll(/\d\d:\d\d:\d\d(?=Z| UTC, by attestd)/g, "");
    expect(await withoutTime("of-items.svg")).toBe(await withoutTime("of-answer.svg"));
    await rm(join(folder.path, "items", "1.json"));
    const lacking = await run("certificate items --keys keys.json --whole");
    expect(lacking).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^attestd: 1 of the 2 items/) });
    const alone = await run("certificate good.json --keys keys.json --whole");
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringMatching(/good\.json is not of a batch/) });
    const stranger = testHistory([{ attestor: testAttestor("stranger"), fromRound: 1 }]);
    await writeFile(join(folder.path, "others.json"), JSON.stringify(stranger));
    expect((await run("certificate batch.json --keys others.json --whole --out no.pdf")).code).toBe(1);
  });

  test("is not verified when its words were changed, even if its bundle is", async () => {
    await run("certificate good.json --keys keys.json --out words.svg");
    const svg = await read("words.svg");
    await writeFile(join(folder.path, "raised.svg"), svg.replaceAll("1.00 ALGO", "9,999,999.00 ALGO"));
    const { code, stdout } = await run("verify raised.svg --keys keys.json");
    expect(stdout).toMatch(
      /^✕ Not verified {2}raised\.svg\n {2}certificate {2}stated .*9,999,999\.00 ALGO, computed from its bundle .* 1\.00 ALGO\n {2}The certificate's text does not match its bundle/,
    );
    expect(stdout).not.toMatch(/signed by|recorded/);
    expect(code).toBe(1);
    const [json, many, again] = await Promise.all([
      run("verify raised.svg --keys keys.json --json"),
      run("verify words.svg raised.svg --keys keys.json"),
      run("certificate raised.svg --keys keys.json --out again.pdf"),
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({ verified: false, certificate: { words: "fail" } });
    expect(many.stdout).toMatch(/✕ Not verified +raised\.svg +certificate\n.*\n1 verified, 1 not verified\n$/);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^attestd: no certificate: not verified\n/) });
  });

  test("is not verified when its words cannot be compared", async () => {
    await run("certificate good.json --keys keys.json --out compared.svg");
    const svg = await read("compared.svg");
    await writeFile(join(folder.path, "later.svg"), svg.replace("layout&quot;:2", "layout&quot;:999"));
    const later = await run("verify later.svg --keys keys.json");
    expect(later.stdout).toMatch(/^\? Text not compared {2}later\.svg\n.*: another version of attestd made it\./s);
    const named = await run(`verify compared.svg --kid ${attestor.kid}`);
    expect(named.stdout).toMatch(/^\? Text not compared .*only a key list with its key confirms/s);
    expect([later.code, named.code]).toEqual([1, 1]);
    expect(JSON.parse((await run("verify later.svg --keys keys.json --json")).stdout).verified).toBe(false);
    expect((await run("verify later.svg --keys keys.json good.json")).stdout).toMatch(
      /1 with text that was not compared\n$/,
    );
  });

  test("marks a sandbox's certificate across the sheet", async () => {
    const made = await run("certificate sandbox.json --keys sandbox-keys.json --out sandbox.svg");
    expect(made.stdout).toContain("Marked as not real");
    expect(await read("sandbox.svg")).toContain("SANDBOX - NOT REAL");
    expect(await read("sandbox.svg")).toContain("Sandbox, not real.");
  });

  test("makes certificates of many, names each, and goes on after one that is not verified", async () => {
    const made = await run("certificate good.json bad.json block.json keys.json --keys keys.json --out made/");
    expect(made.stdout.split("\n").filter((line) => !line.startsWith(" "))).toEqual([
      `✓ Saved ${join("made", "good.pdf")}`,
      `✓ Saved ${join("made", "block.pdf")}`,
      "2 certificates saved, 2 not made",
      "",
    ]);
    expect(made.stderr).toMatch(
      /^attestd: bad\.json: no certificate: not verified\n {2}signature .*\nattestd: keys\.json: can't read keys\.json\n/s,
    );
    expect(made.code).toBe(1);
    expect((await run("verify made --keys keys.json")).stdout).toMatch(/\n2 verified\n$/);
  });

  test("makes one of each transaction of a batch", async () => {
    const made = await run("certificate batch.json --keys keys.json --out batch/");
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect((await run("verify batch --keys keys.json")).stdout).toMatch(/\n2 verified\n$/);
    const one = await run("certificate batch.json --keys keys.json --out one.pdf");
    expect(one).toMatchObject({ code: 2, stdout: "" });
    expect(one.stderr).toContain("--out is one file, and the batch has 2 bundles\n  Name a folder: --out FOLDER/");
  });

  test("replaces no file unless it is told to, and says so", async () => {
    await writeFile(join(folder.path, "sandbox.pdf"), "mine");
    const make = (more = "") => run(`certificate sandbox.json --keys sandbox-keys.json${more}`);
    expect(await make()).toEqual({
      code: 2,
      stdout: "",
      stderr: "attestd: sandbox.pdf is there already\n  Replace it with --force, or choose another: --out.\n",
    });
    expect(await read("sandbox.pdf")).toBe("mine");
    expect((await make(" --force")).stdout).toMatch(/^✓ Replaced sandbox\.pdf\n/);
    expect((await make(" --out sandbox.pdf")).stdout).toMatch(/^✓ Replaced sandbox\.pdf\n/);
    expect(await run("certificate good.json block.json --keys keys.json --out one.pdf")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--out FOLDER/"),
    });
  });

  test("reads standard input", async () => {
    const made = await run("certificate - --keys keys.json", { input: JSON.stringify(bundle) });
    expect(made.stdout).toMatch(/^✓ Saved certificate\.pdf\n/);
  });

  test.each([
    ["a changed bundle", "bad.json --keys keys.json", 1, /^attestd: no certificate: not verified\n {2}signature /],
    ["a bundle of another attestor", "stranger.json --keys keys.json", 1, /^attestd: no certificate: signer unknown\n/],
    ["a bundle without trusted keys", "good.json", 1, /^attestd: no certificate: signer unknown\n/],
    [
      "a file that is not a bundle",
      "keys.json --keys keys.json",
      3,
      /^attestd: can't read keys\.json\n {2}A key history, not a bundle: name it with --keys/,
    ],
    ["another output format", "good.json --keys keys.json --out a.doc", 2, /\.pdf or an \.svg/],
    ["an output that is also the input", "good.svg --keys keys.json --out good.svg", 2, /the file to be read/],
  ])("makes no certificate from %s", async (_, args, code, words) => {
    expect(await run(`certificate ${args}`)).toEqual({ code, stdout: "", stderr: expect.stringMatching(words) });
  });
});
