import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  TEST_RECEIPT,
  type TestAttestor,
  testAttestor,
  testBundle,
  testHistory,
  testReceipt,
} from "../../../test/bundles/bundles.ts";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";

const bundle = testBundle();
const attestor = testAttestor();
/** A receipt's file as docs/format.md and x402's extension `offer-receipt` have it. */
function receipt(by: TestAttestor, stated?: object): string {
  return JSON.stringify({ format: "jws", signature: testReceipt(by, stated) });
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder.path, "proofs/2026/.hidden"), { recursive: true });
  await mkdir(join(folder.path, "proofs/empty"));
  const files: Record<string, unknown> = {
    "keys.json": testHistory(),
    "revoked.json": testHistory([{ attestor, fromRound: 1, revokedRound: 2000 }]),
    "good.json": bundle,
    "proofs/a.json": bundle,
    "proofs/keys.json": testHistory(),
    "proofs/2026/b.json": { ...bundle, source: { ...bundle.source, hashSha256: "ab".repeat(32) } },
    "proofs/2026/package.json": { name: "something", dependencies: {} },
    "proofs/2026/.hidden/c.json": bundle,
    "proofs/2026/d.txt": bundle,
  };
  for (const [name, value] of Object.entries(files)) await writeFile(join(folder.path, name), JSON.stringify(value));
  await writeFile(join(folder.path, "proofs/2026/cut.json"), JSON.stringify(bundle).slice(0, -9));
  await writeFile(join(folder.path, "proofs/2026/notes.json"), "{ // no JSON, and no bundle");
  await writeFile(join(folder.path, "proofs/2026/nothing.json"), "");
  await symlink("..", join(folder.path, "proofs/2026/up"));
  await writeFile(join(folder.path, "good.receipt.json"), receipt(attestor));
  await writeFile(join(folder.path, "proofs/a.receipt.json"), receipt(testAttestor("stranger")));
});
afterAll(() => folder[Symbol.asyncDispose]());
const run = (args: string) => attestd(["verify", ...args.split(" ")], { cwd: folder.path });

describe("attestd verify FOLDER", () => {
  test("checks every bundle in it and below, and counts what is none", async () => {
    const { code, stdout } = await run("proofs --keys keys.json");
    const rows = stdout.split("\n").map((line) => line.split(/ {2,}/));
    expect(rows.slice(0, -3).map(([verdict, name, ...rest]) => [verdict, name, rest.at(-1)])).toEqual([
      ["✕ Not verified", "proofs/2026/b.json", "signature, hashPreimage"],
      ["✕ Can't read", "proofs/2026/cut.json", "Not JSON (line 1)."],
      ["✕ Can't read", "proofs/2026/nothing.json", "Not JSON (line 1)."],
      ["✓ Verified", "proofs/a.json", "its receipt: its key is in no history here; anyone could have made it"],
    ]);
    expect(stdout).toMatch(
      /\n1 verified, 1 not verified, 1 receipt not verified, 2 unreadable, 3 of other kinds, left out\n$/,
    );
    expect(code).toBe(1);
  });

  test("aligns the columns", async () => {
    const { stdout } = await run("proofs --keys keys.json");
    const columns = stdout.split("\n").slice(0, 4);
    expect(new Set(columns.map((line) => line.indexOf("proofs/")))).toEqual(new Set([28]));
  });

  test("prints one report a line with --json, in the order of the names", async () => {
    const { stdout } = await run("proofs --keys keys.json --json");
    const reports = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(reports.map(({ file, verified }) => [file, verified])).toEqual([
      ["proofs/2026/b.json", false],
      ["proofs/2026/cut.json", false],
      ["proofs/2026/nothing.json", false],
      ["proofs/a.json", true],
    ]);
    expect(reports[3].paymentReceipt).toEqual({
      file: "proofs/a.receipt.json",
      type: "payment-receipt",
      verified: false,
      conclusion: "unknown",
      kid: testAttestor("stranger").kid,
    });
  });

  test("prints that there is none", async () => {
    expect(await run("proofs/empty --keys keys.json")).toEqual({
      code: 3,
      stdout: "",
      stderr: "attestd: no bundle in proofs/empty\n  No .json, .pdf or .svg file is there.\n",
    });
  });
});

describe("attestd verify of receipts", () => {
  test("checks the one beside a bundle with it", async () => {
    const { code, stdout } = await run("good.json --keys keys.json");
    expect(stdout).toMatch(/^✓ Verified {2}good\.json\n/);
    expect(stdout.slice(stdout.indexOf("✓ Verified  good.receipt"))).toBe(`✓ Verified  good.receipt.json
  receipt of the payment 0x1212…1212 on Base, by 0x857b…6b66
  for https://attestd.example/attest, delivered 2026-11-21 10:29:05 UTC
  signed by attestd.example, key ${attestor.kid.slice(0, 6)}…${attestor.kid.slice(-4)}
  It names the payment, not the bundle; amount and payee are on the payment's chain.
`);
    expect(code).toBe(0);
    expect((await run(`good.json --kid ${attestor.kid}`)).stdout).toContain("✓ Verified  good.receipt.json\n");
  });

  test("checks one alone", async () => {
    expect((await run("good.receipt.json --keys keys.json")).stdout).toMatch(
      /^✓ Verified {2}good\.receipt\.json\n {2}receipt of the payment .*\n {2}rests on the key list in keys\.json/s,
    );
  });

  test.each([
    ["a withdrawn key", receipt(attestor), "revoked.json", /^✕ Not verified .*\n {2}its key was withdrawn/],
    [
      "a stranger",
      receipt(testAttestor("stranger")),
      "keys.json",
      /^\? Signer unknown .*\n {2}its key is in no history/,
    ],
    [
      "another payment than was signed",
      receipt(attestor).replace(
        /\.[^.]+\./,
        `.${Buffer.from(JSON.stringify({ ...TEST_RECEIPT, version: 1, payer: "0xme" })).toString("base64url")}.`,
      ),
      "keys.json",
      /^✕ Not verified .*\n {2}changed after signing, or no receipt: signature is not the key's\n/,
    ],
    [
      "a form that is none",
      receipt(attestor, { ...TEST_RECEIPT, amount: 1 }),
      "keys.json",
      /payload amount unknown member\n/,
    ],
  ])("does not believe one by %s", async (_, text, keys, words) => {
    await writeFile(join(folder.path, "odd.json"), text);
    const { code, stdout } = await run(`odd.json --keys ${keys}`);
    expect(stdout).toMatch(words);
    expect(stdout).not.toContain(TEST_RECEIPT.resourceUrl);
    expect(code).toBe(1);
  });
});

describe("attestd verify URL", () => {
  const server = createServer((request, response) => {
    const to = (location: string) => response.writeHead(302, { location }).end();
    switch (request.url) {
      case "/b":
        return response.end(JSON.stringify(bundle));
      case "/moved":
        return to("/b");
      case "/round":
        return to("/round");
      case "/away":
        return to("http://attestd.example/b");
      case "/file":
        return to("file:///etc/passwd");
      case "/endless": {
        const write = () => {
          while (!response.destroyed && response.write(" ".repeat(65_536)));
        };
        response.on("drain", write);
        return write();
      }
      default:
        return response.writeHead(404).end();
    }
  });
  let origin = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test("checks what is there", async () => {
    expect(await run(`${origin}/b --keys keys.json`)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ Verified {2}http:.*\/b\n/),
    });
    expect((await run(`${origin}/moved --keys keys.json`)).code).toBe(0);
  });

  test.each([
    ["/none", 4, /127\.0\.0\.1:\d+ answered 404\.\n/],
    ["/round", 4, /Redirected too often\.\n/],
    ["/away", 3, /attestd\.example must be asked by https\.\n/],
    ["/file", 3, /Not an http or https URL\.\n/],
    ["/endless", 3, /25\.2 MB or more; bundles are smaller\.\n/],
  ])("takes nothing from %s", async (path, code, words) => {
    expect(await run(`${origin}${path} --keys keys.json`)).toMatchObject({
      code,
      stdout: expect.stringMatching(words),
    });
  });

  test.each([
    ["http://attestd.example/b", 3, /must be asked by https/],
    ["https://me:secret@attestd.example/b", 3, /A URL with a password is not taken/],
    ["http://127.0.0.1:1/b", 4, /No answer: /],
  ])("refuses %s", async (url, code, words) => {
    expect(await run(`${url} --keys keys.json`)).toMatchObject({ code, stdout: expect.stringMatching(words) });
  });
});
