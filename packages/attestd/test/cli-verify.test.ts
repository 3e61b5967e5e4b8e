import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ALGORAND_MAINNET, type ProofBundle, verify } from "@attestd/proof";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testBatch } from "../../../test/bundles/batches.ts";
import {
  testAttestor,
  testBaseBlock,
  testBaseTransaction,
  testBundle,
  testHistory,
  testInclusionBundle,
} from "../../../test/bundles/bundles.ts";
import { SANDBOX_LEDGER as SANDBOX, sandboxHistory, withOrigin } from "../../../test/e2e/key-histories.ts";
import { attestd, type InProcess } from "../../../test/helpers/command.ts";
import { runningSandbox } from "../../../test/helpers/running-sandbox.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { WARNINGS } from "../../web/src/words.ts";

const bundle = testBundle();
const { txnId } = bundle.source;
const shortId = `${txnId.slice(0, 6)}…${txnId.slice(-4)}`;
const attestor = testAttestor();
const batch = testBatch();
const tampered: ProofBundle = { ...bundle, source: { ...bundle.source, hashSha256: "ab".repeat(32) } };

/** Where a sandbox of this machine answers. */
const serviceUrl = "http://127.0.0.1:4020";

describe("attestd verify", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  /** The line about the keys in every verdict with `keys.json`. */
  let rests: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const files: Record<string, unknown> = {
      "good.json": bundle,
      "bad.json": tampered,
      "stranger.json": testBundle({ attestor: testAttestor("stranger") }),
      "sandbox.json": testBundle({ ledger: SANDBOX }),
      "batch.json": batch,
      "short.json": { ...batch, items: batch.items.slice(1) },
      "dropped.json": { ...bundle, signature: undefined },
      "other.json": { hello: "world" },
      "keys.json": testHistory(),
      "sandbox-keys.json": testHistory(undefined, SANDBOX),
      "revoked.json": testHistory([{ attestor, fromRound: 1, revokedRound: 2000 }]),
      "successor.json": testHistory([
        { attestor, fromRound: 1 },
        { attestor: testAttestor("next"), fromRound: 2000 },
      ]),
    };
    for (const [name, value] of Object.entries(files)) await writeFile(join(folder.path, name), JSON.stringify(value));
    const { mtime } = await stat(join(folder.path, "keys.json"));
    rests = `rests on the key list in keys.json, written on ${mtime.toISOString().slice(0, 10)}\n`;
    await writeFile(join(folder.path, "text.json"), '{\n"version": 1,\n oops');
    await writeFile(join(folder.path, "big.json"), " ".repeat(5_000_000));
    await writeFile(
      join(folder.path, "twice.json"),
      JSON.stringify(bundle).replace('"version":1', '"version":1,"version":1'),
    );
  });
  afterAll(() => folder[Symbol.asyncDispose]());
  const run = (args: string, options: InProcess = {}) =>
    attestd(["verify", ...args.split(" ")], { cwd: folder.path, ...options });

  test("checks each transaction of a batch's answer, and finds one that is not whole", async () => {
    const { code, stdout } = await run("batch.json --keys keys.json");
    expect(stdout.match(/^. \S+ +\S+/gm)).toEqual(
      [0, 1].map((i) => expect.stringMatching(`^✓ Verified +batch.json#/items/${i}$`)),
    );
    expect(stdout).toContain("rests on the key list in keys.json");
    expect(stdout).toMatch(/\n2 verified\n$/);
    expect(code).toBe(0);
    const json = await run("batch.json --keys keys.json --json");
    const reports = json.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(reports).toMatchObject(
      [0, 1].map((i) => ({ file: `batch.json#/items/${i}`, type: "batch-item", verified: true })),
    );
    const piped = await run("- --keys keys.json", { input: JSON.stringify(batch) });
    expect(piped.stdout).toContain("2 verified");
    const short = await run("short.json --keys keys.json");
    expect(short).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("Not the whole answer of a batch: /items must be 2"),
    });
  });

  test("prints what a verified bundle proves, and no more", async () => {
    const { code, stdout, stderr } = await run("good.json --keys keys.json");
    expect(stdout).toBe(
      `✓ Verified  good.json
  On 28 May 2026 at 20:26:40 UTC, account BI3HXE…XKLY sent 1.00 ALGO to account QG5OQ5…6L6E in transaction ${shortId} on Algorand.
  stated as recorded on Algorand in round 1000
  signed by attestd.example, key ${attestor.kid.slice(0, 6)}…${attestor.kid.slice(-4)} (current)
  ${rests}  6 checks passed; ledger not checked (--chain)
`,
    );
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("leads with the failure of a transaction that failed", async () => {
    const failed = testBundle({ chain: "base", txnBytes: testBaseTransaction(1), statement: { s: 0 } });
    await writeFile(join(folder.path, "failed.json"), JSON.stringify(failed));
    const { code, stdout } = await run("failed.json --keys keys.json");
    expect(stdout).toMatch(
      /^⚠ Verified, with a warning {2}failed\.json\n {2}Failed on Base: nothing moved\n {2}On .* tried to send .*\. It failed: nothing moved\. /,
    );
    expect(code).toBe(0);
    const many = await run("failed.json good.json --keys keys.json");
    expect(many.stdout).toContain("  Failed on Base: nothing moved. Tried: ETH transfer on Base, ");
  });

  test("prints the failed checks with both values, and none of the file's claims", async () => {
    const { code, stdout } = await run("bad.json --keys keys.json");
    expect(stdout).toBe(
      `✕ Not verified  bad.json
  signature     does not match the contents
  hashPreimage  stated abababab…, computed ${bundle.source.hashSha256.slice(0, 8)}…
  ${rests}`,
    );
    expect(code).toBe(1);
  });

  test("has its own verdict for a signer that is not trusted here", async () => {
    const { code, stdout } = await run("stranger.json --keys keys.json");
    expect(stdout).toBe(
      "? Signer unknown  stranger.json\n" +
        `  Unchanged, but its key is in no history here. Anyone could have made it.\n  ${rests}`,
    );
    expect(code).toBe(1);
    const withoutKeys = await run("good.json");
    expect(withoutKeys.stdout).toMatch(/^\? Signer unknown {2}good\.json\n.*\(--keys FILE\)/);
    expect(withoutKeys.code).toBe(1);
  });

  test.each([
    ["retired", "good.json --keys successor.json", 0, /^✓ Verified .*\(retired\)\n/s],
    ["withdrawn", "good.json --keys revoked.json", 1, /^✕ Not verified .*keyTrust .*withdrawn in round 2000;.*\n$/s],
  ])("prints that the key is %s", async (_, args, code, words) => {
    expect(await run(args)).toEqual({ code, stdout: expect.stringMatching(words), stderr: "" });
  });

  test("warns of a sandbox, and of an old key history", async () => {
    const { code, stdout } = await run("sandbox.json --keys sandbox-keys.json");
    expect(stdout).toMatch(
      /^⚠ Verified, with a warning .* on the sandbox's ledger in round .*\n {2}Sandbox, not real\.\n$/s,
    );
    expect(code).toBe(0);
    const longAgo = new Date(Date.now() - 40 * 24 * 3600 * 1000);
    await writeFile(join(folder.path, "old-keys.json"), await readFile(join(folder.path, "keys.json")));
    await utimes(join(folder.path, "old-keys.json"), longAgo, longAgo);
    expect((await run("good.json --keys old-keys.json")).stdout).toContain(
      `  Key list is from ${longAgo.toISOString().slice(0, 10)}; later withdrawals don't show.\n`,
    );
  });

  test("accepts key ids instead of a history", async () => {
    const known = await run(`good.json --kid ${testAttestor("next").kid} --kid ${attestor.kid}`);
    expect(known.stdout).toMatch(/^✓ Verified .*\(pinned\)/s);
    expect(known.code).toBe(0);
    expect((await run(`good.json --kid ${testAttestor("next").kid}`)).code).toBe(1);
    expect((await run(`sandbox.json --kid ${attestor.kid}`)).stdout).toContain(
      `  If the keys of --kid are of its ledger: --ledger ${SANDBOX}\n`,
    );
    expect((await run(`sandbox.json --kid ${attestor.kid} --ledger ${SANDBOX}`)).code).toBe(0);
  });

  test("trusts the sandbox that runs in the current folder unless --keys is given", async () => {
    await using here = await temporaryFolder();
    using _ = await runningSandbox(here.path, { "sandbox.json": { serviceUrl }, "keys.json": sandboxHistory() });
    const file = join(folder.path, "sandbox.json");
    const { code, stdout } = await attestd(["verify", file], { cwd: here.path });
    expect(stdout).toMatch(
      /^⚠ Verified, with a warning .*signed by 127\.0\.0\.1:4020, .*rests on the sandbox's key list in \.attestd\/keys\.json, written on .*\n {2}Sandbox, not real\.\n$/s,
    );
    expect(code).toBe(0);
    expect(JSON.parse((await attestd(["verify", file, "--json"], { cwd: here.path })).stdout)).toMatchObject({
      verified: true,
      warnings: ["sandbox"],
      trust: { basis: "sandbox", name: ".attestd/keys.json" },
    });
    const keys = join(folder.path, "keys.json");
    expect((await attestd(["verify", file, "--keys", keys], { cwd: here.path })).code).toBe(1);
  });

  test.each([
    [
      "MainNet",
      withOrigin("https://attestd.real.example", testHistory(undefined, ALGORAND_MAINNET)),
      /key history of https:\/\/attestd\.real\.example/,
    ],
    [
      "MainNet, on this machine",
      withOrigin("http://127.0.0.1:4020", testHistory(undefined, ALGORAND_MAINNET)),
      /on algorand:wGHE2Pwdvd7S/,
    ],
    [
      "TestNet",
      withOrigin("http://127.0.0.1:4020", testHistory(undefined, "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe")),
      /on algorand:SGO1GKSz/,
    ],
    [
      "someone else",
      withOrigin("https://attestd.real.example", testHistory(undefined, SANDBOX)),
      /key history of https:\/\/attestd\.real\.example/,
    ],
    [
      "a name that begins like this machine's",
      withOrigin("http://127.0.0.1.evil.example", testHistory(undefined, SANDBOX)),
      /127\.0\.0\.1\.evil/,
    ],
  ])("does not trust the keys of %s in ./.attestd unless --keys names them", async (_name, keys, words) => {
    await using here = await temporaryFolder();
    using _ = await runningSandbox(here.path, { "sandbox.json": { serviceUrl }, "keys.json": keys });
    for (const command of ["verify", "certificate"])
      for (const file of ["good.json", "sandbox.json"]) {
        const refused = await attestd([command, join(folder.path, file)], { cwd: here.path });
        expect(refused).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(words) });
        expect(refused.stderr).toMatch(/keys\.json is not a sandbox's\n.*name it: --keys \.attestd\/keys\.json\n$/s);
      }
    const good = join(folder.path, keys.ledger === ALGORAND_MAINNET ? "good.json" : "sandbox.json");
    const named = await attestd(["verify", good, "--keys", ".attestd/keys.json"], { cwd: here.path });
    expect(named.stdout).toContain("rests on the key list in .attestd/keys.json, written on ");
  });

  test("asks the service in ./.attestd only about its own sandbox's ledger", async () => {
    const asked: string[] = [];
    await using server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end(JSON.stringify({ checks: { chainSource: "pass", chainAttest: "pass" }, failures: [] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const serviceUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using here = await temporaryFolder();
    using _ = await runningSandbox(here.path, { "sandbox.json": { serviceUrl }, "keys.json": sandboxHistory() });
    const verified = (...args: string[]) => attestd(["verify", ...args, "--chain"], { cwd: here.path });
    const [good, keys] = [join(folder.path, "good.json"), join(folder.path, "keys.json")];
    for (const args of [
      ["--keys", keys],
      ["--kid", attestor.kid],
    ])
      expect(await verified(good, ...args)).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/--chain needs a service or nodes to ask\n.*--service URL/),
      });
    expect(asked).toEqual([]);
    const sandbox = await verified(join(folder.path, "sandbox.json"));
    expect([sandbox.code, asked]).toEqual([0, ["/verify?chain=1"]]);
    expect(sandbox.stdout).toMatch(/^⚠ Verified, with a warning /);
    await writeFile(join(here.path, ".attestd", "sandbox.json"), '{"serviceUrl":"https://ledger.real.example"}');
    expect(await verified(join(folder.path, "sandbox.json"))).toMatchObject({ code: 2, stdout: "" });
  });

  test("prints that the date of a key list is unknown when its file's is in the future", async () => {
    await writeFile(join(folder.path, "future.json"), JSON.stringify(testHistory()));
    const future = new Date(Date.now() + 365 * 24 * 3600 * 1000);
    await utimes(join(folder.path, "future.json"), future, future);
    const { stdout } = await run("good.json --keys future.json");
    expect(stdout).toMatch(/^⚠ Verified, with a warning .*future\.json, written on an unknown date\n/s);
    expect(stdout).toContain(WARNINGS.history_old("an unknown date"));
  });

  test("prints whether a verdict rests on key ids or on no keys", async () => {
    const lines = async (args: string) => (await run(args)).stdout;
    expect(await lines(`good.json --kid ${attestor.kid}`)).toContain(
      "  rests on the key that was named; it can't show whether the key was withdrawn\n",
    );
    expect(await lines("good.json")).toMatch(/\n {2}rests on no key list: none was given\n$/);
    expect(JSON.parse(await lines(`good.json --json --kid ${attestor.kid}`)).trust).toEqual({
      basis: "kid",
      name: attestor.kid,
    });
    expect(JSON.parse(await lines("good.json --json")).trust).toBeNull();
  });

  test.each([
    ["text.json", "Not JSON (line 3)."],
    ["other.json", "No bundle, receipt or key list of attestd. `attestd inspect` shows what else it may be."],
    ["big.json", "5.0 MB or more; bundles are smaller."],
    ["none.json", "There is no such file."],
  ])("can't read %s, and prints why", async (file, why) => {
    const { code, stdout } = await run(`${file} --keys keys.json`);
    expect(stdout).toBe(`✕ Can't read  ${file}\n  ${why}\n`);
    expect(code).toBe(3);
  });

  test.each(["dropped.json", "twice.json"])("rejects %s, which is almost a bundle", async (file) => {
    const { code, stdout } = await run(`${file} --keys keys.json`);
    expect(stdout).toMatch(/^✕ Not verified .*\n {2}schema {2}\/(signature|version) /);
    expect(code).toBe(1);
  });

  test("reads standard input", async () => {
    const result = await run("- --keys keys.json", { input: JSON.stringify(bundle) });
    expect(result.stdout).toMatch(/^✓ Verified {2}-\n/);
    expect(result.code).toBe(0);
    expect((await run("- --keys keys.json", { input: "" })).code).toBe(3);
  });

  test("prints a line for each of several files, and a count", async () => {
    const { code, stdout } = await run("good.json bad.json stranger.json text.json good.json --keys keys.json");
    expect(stdout).toBe(
      `✓ Verified                  good.json      2026-05-28 20:26:40 UTC  ALGO payment on Algorand, 1.00 ALGO
✕ Not verified              bad.json                                signature, hashPreimage
? Signer unknown            stranger.json
✕ Can't read                text.json                               Not JSON (line 3).
✓ Verified                  good.json      2026-05-28 20:26:40 UTC  ALGO payment on Algorand, 1.00 ALGO
${rests}2 verified, 1 not verified, 1 signer unknown, 1 unreadable
`,
    );
    expect(code).toBe(1);
    expect((await run("good.json text.json --keys keys.json")).code).toBe(3);
    expect((await run("good.json good.json --keys keys.json")).stdout).toMatch(/\n2 verified\n$/);
  });

  test("--json prints one report a line, and messages only on stderr", async () => {
    const { code, stdout, stderr } = await run("good.json bad.json text.json --json --keys keys.json");
    const reports = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const trust = { basis: "file", name: "keys.json", date: rests.trim().slice(-10) };
    expect(reports[0]).toEqual({ file: "good.json", ...verify(bundle, { trust: testHistory() }), trust });
    expect(reports[1]).toMatchObject({ file: "bad.json", verified: false, checks: { signature: "fail" } });
    expect(reports[2]).toEqual({ file: "text.json", verified: false, unreadable: "Not JSON (line 3)." });
    expect(stderr).toBe("attestd: can't read text.json: Not JSON (line 3).\n");
    expect(code).toBe(1);
  });

  test("prints only ASCII in an ASCII locale, and never colours a pipe", async () => {
    const all = "good.json bad.json stranger.json sandbox.json --keys keys.json";
    const ascii = await run(all, { env: { LC_ALL: "C" } });
    expect(ascii.stdout).toMatch(/^ok Verified .*\nFAIL Not verified .*\n\? Signer unknown /);
    expect(ascii.stdout + (await run("bad.json", { env: { LC_ALL: "C" } })).stdout).toMatch(/^[\n\x20-\x7e]*$/);
    expect((await run(all)).stdout).not.toContain("\u001b");
  });

  test("colours a terminal unless the environment forbids it", async () => {
    const screen = { columns: 80 };
    const painted = "\u001b[31m✕\u001b[39m Not verified";
    const seen = async (env: Record<string, string>, terminal = true) =>
      (await run("bad.json --keys keys.json", { env, ...(terminal && { screen }) })).stdout.split("  ")[0];
    expect(await seen({})).toBe(painted);
    expect(await seen({ NO_COLOR: "1" })).toBe("✕ Not verified");
    expect(await seen({ TERM: "dumb" })).toBe("✕ Not verified");
    expect(await seen({ FORCE_COLOR: "0" })).toBe("✕ Not verified");
    expect(await seen({ FORCE_COLOR: "1" }, false)).toBe(painted);
    expect(await seen({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe("✕ Not verified");
  });

  test("prints the page's warnings", async () => {
    const date = new Date(Date.now() - 40 * 24 * 3600 * 1000);
    const included = testInclusionBundle({ block: testBaseBlock(2), index: 1, level: "included" });
    await writeFile(join(folder.path, "included.json"), JSON.stringify(included));
    await writeFile(join(folder.path, "aged.json"), JSON.stringify(testHistory()));
    await utimes(join(folder.path, "aged.json"), date, date);
    const day = date.toISOString().slice(0, 10);
    const words = [WARNINGS.included_only(), WARNINGS.history_old(day)];
    expect((await run("included.json --keys aged.json")).stdout).toContain(`  ${words.join("\n  ")}\n`);
    expect((await run("included.json good.json --keys aged.json")).stdout).toContain(`ETH  ${words.join("  ")}\n`);
  });

  test("prints characters that could move a terminal's cursor as code points", async () => {
    const name = "b\u001b[2J\u202e.json";
    await writeFile(join(folder.path, name), JSON.stringify({ ...bundle, "\u001b[31m": 1 }));
    const { stdout } = await attestd(["verify", name, "--keys", "keys.json"], { cwd: folder.path });
    expect(stdout).toBe(`✕ Not verified  b\\u{1b}[2J\\u{202e}.json\n  schema  /\\u{1b}[31m unknown member\n  ${rests}`);
  });

  test.each([
    ["no file", "--keys keys.json", /missing required argument/],
    ["an unknown option", "good.json --frobnicate", /unknown option/],
    ["two kinds of trust", `good.json --keys keys.json --kid ${attestor.kid}`, /cannot be used/],
    ["a ledger without a key", `good.json --ledger ${SANDBOX}`, /--kid/],
    ["a key id of another form", "good.json --kid x", /'--kid <kid>' argument 'x' is invalid\. The id of a key has 43/],
    [
      "a ledger of another form",
      `good.json --kid ${attestor.kid} --ledger main`,
      /'--ledger <caip2>' .* Write a ledger as algorand:/,
    ],
    [
      "a service that is not a URL",
      "good.json --chain --service here",
      /'--service <url>' argument 'here' is invalid\. Write a URL/,
    ],
    ["a service that is not asked", "good.json --service http://127.0.0.1:1", /only with --chain/],
    ["a chain check without a service", "good.json --chain", /--service URL/],
  ])("%s is a usage error", async (_, args, words) => {
    expect(await run(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(words) });
  });

  test.each(["none.json", "text.json", "good.json"])("fails when the keys are in %s", async (file) => {
    expect(await run(`good.json --keys ${file}`)).toEqual({
      code: 3,
      stdout: "",
      stderr: expect.stringMatching(/^attestd: .*\n {2}.*\n$/),
    });
  });

  test("prints its help with examples", async () => {
    const { code, stdout } = await run("--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Check bundles, .* Offline; free\. .*\n {2}attestd keys history .*\n {2}attestd verify b\.json --keys keys\.json\n/,
    );
  });

  describe("--chain", () => {
    let answer: { status: number; body: unknown };
    const asked: string[] = [];
    /** The answer waits for this promise. */
    let hold: Promise<void> | undefined;
    let release = () => {};
    const server = createServer(async (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      await hold;
      response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
    });
    beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
    afterAll(async () => {
      server.close();
      server.closeAllConnections();
    });
    const ask = (file: string, status: number, body: unknown, keys = "keys.json", options: InProcess = {}) => {
      answer = { status, body };
      asked.length = 0;
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return run(`${file} --keys ${keys} --chain --service ${url}`, options);
    };
    const report = (chainSource: string, chainAttest: string, failures: unknown[] = []) => ({
      checks: { chainSource, chainAttest },
      failures,
    });

    test("prints that the bundle is recorded when the ledger has it", async () => {
      const { code, stdout } = await ask("good.json", 200, report("pass", "pass"));
      expect(stdout).toMatch(/\n {2}recorded on Algorand in round 1000\n.*8 checks passed; compared with/s);
      expect(code).toBe(0);
      expect(asked).toEqual(["POST /verify?chain=1"]);
    });

    test("verifies a bundle of a withdrawn key that the ledger has in an earlier round", async () => {
      const { code, stdout } = await ask("good.json", 200, report("pass", "pass"), "revoked.json");
      expect(stdout).toMatch(/^✓ Verified .*\(revoked\)/s);
      expect(code).toBe(0);
    });

    test.each([
      ["another note", 400, { report: report("pass", "fail", [{ check: "chainAttest", pointer: "/attest/note" }]) }],
      ["a failure without a message", 400, { report: report("pass", "fail") }],
      ["no such transaction", 404, { check: "chainAttest" }],
    ])("rejects a bundle that the ledger contradicts: %s", async (_, status, body) => {
      const { code, stdout } = await ask("good.json", status, body);
      expect(stdout).toMatch(/^✕ Not verified .*\n {2}chainAttest {2}.*(not found|different)/);
      expect(code).toBe(1);
    });

    test.each([
      ["is down", 503, { detail: "The chain cannot be asked now." }],
      ["is another server", 200, "hello"],
      ["refused offline", 400, { detail: "Not verified: keyTrust.", report: report("not_checked", "not_checked") }],
    ])("keeps the offline verdict when the service %s", async (_, status, body) => {
      const { code, stdout } = await ask("good.json", status, body);
      expect(stdout).toMatch(/^✓ Verified .*couldn't ask the ledger; the offline result stands/s);
      expect(code).toBe(4);
    });

    test("of several files, not verified comes before unreadable, and that before not compared", async () => {
      const codes = ["good.json", "good.json text.json", "good.json text.json bad.json"].map(
        async (files) => (await ask(files, 503, {})).code,
      );
      expect(await Promise.all(codes)).toEqual([4, 3, 1]);
    });

    test("shows its progress on a terminal, and erases it afterwards", async () => {
      let written = "";
      hold = new Promise((resolve) => {
        release = resolve;
      });
      const { stdout, stderr } = await ask("good.json good.json", 200, report("pass", "pass"), "keys.json", {
        screen: { columns: 80 },
        onError(text) {
          written += text;
          if (written.includes("\r\u001b[K  1 of 2…")) release();
        },
      });
      expect(stderr.endsWith("\r\u001b[K")).toBe(true);
      expect(stdout).not.toContain("of 2");
      expect(stdout).toMatch(/2 verified\n$/);
    });

    test("prints how many files were checked when it is interrupted", async () => {
      const stop = new AbortController();
      hold = new Promise(() => undefined);
      server.once("request", () => stop.abort());
      const interrupted = ask("bad.json good.json", 200, {}, "keys.json", { stop: stop.signal });
      expect(await interrupted).toMatchObject({
        code: 130,
        stderr: "attestd: interrupted\n  1 of 2 files were checked.\n",
      });
      hold = undefined;
    });

    test("does not ask about a bundle that is rejected offline", async () => {
      expect((await ask("bad.json", 200, report("pass", "pass"))).code).toBe(1);
      expect(asked).toEqual([]);
    });
  });
});
