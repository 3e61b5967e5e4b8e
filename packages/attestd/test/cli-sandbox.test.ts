import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { attestd, type CommandOptions, start, startShell } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";

type Running = ReturnType<typeof start> & { out: () => string; err: () => string };

/** Starts a command and collects its output. */
function watch(args: string[], options: Parameters<typeof start>[1]): Running {
  return watched(start(args, options));
}

function watched(child: ReturnType<typeof start>): Running {
  const written = { out: "", err: "" };
  child.stdout?.on("data", (chunk) => {
    written.out += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    written.err += chunk;
  });
  return Object.assign(child, { out: () => written.out, err: () => written.err });
}

const ROOT = resolve(import.meta.dirname, "../../..");

/** Makes a folder look like a clone after `npm ci`. */
async function linkClone(folder: string): Promise<void> {
  for (const name of ["package.json", "packages", "node_modules"]) await symlink(join(ROOT, name), join(folder, name));
}

/** Starts what `npm start` starts, where npm's scripts find commands. */
async function npmStart(more: string, { cwd = ".", env }: CommandOptions): Promise<Running> {
  const { scripts } = JSON.parse(await readFile(join(cwd, "package.json"), "utf8"));
  const PATH = [join(cwd, "node_modules/.bin"), process.env.PATH].join(delimiter);
  return watched(startShell(`${scripts.start} ${more}`, { cwd, env: { ...env, PATH } }));
}

const until = (condition: () => void) => vi.waitFor(condition, { timeout: 120_000, interval: 50 });
const untilOutput = (read: () => string, words: RegExp) => until(() => expect(read()).toMatch(words));

/** Every process below one, by `ps`. */
function descendants(pid: number): number[] {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const parents = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    parents.filter(([, ppid]) => ppid === parent).flatMap(([child = 0]) => [child, ...below(child)]);
  return below(pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The process id in the service's log. */
function servicePid(running: Running): number {
  return Number(/"pid":(\d+),.*"msg":"listening"/.exec(running.out())?.[1]);
}

describe("attestd sandbox", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let sandbox: Running;
  const here = (...names: string[]) => join(folder.path, ".attestd", ...names);
  const description = async () => JSON.parse(await readFile(here("sandbox.json"), "utf8"));
  const run = (...args: string[]) => attestd(args, { cwd: folder.path });

  beforeAll(async () => {
    folder = await temporaryFolder();
    // A developer's environment variables must not reach a sandbox.
    const env = { OTEL_SERVICE_NAME: "", PORT: "0" };
    await linkClone(folder.path);
    sandbox = await npmStart("--round-ms 500", { cwd: folder.path, env });
    await Promise.race([untilOutput(sandbox.out, /"msg":"listening"/), sandbox.ended]);
  });
  afterAll(async () => {
    sandbox.kill("SIGKILL");
    await sandbox.ended;
    await folder[Symbol.asyncDispose]();
  });

  test("prints its addresses before any log", async () => {
    const { serviceUrl } = await description();
    const [title, ...lines] = sandbox.out().split("\n");
    expect(title).toBe("attestd sandbox   no real money, nothing leaves this machine");
    expect(lines).toContain("  wallets   funded, in .attestd/sandbox.json");
    expect(lines.find((line) => line.startsWith("  API "))).toContain(serviceUrl);
  });

  test("describes all of itself in files that only the owner can read", async () => {
    const found = await description();
    expect(found).toMatchObject({
      serviceUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      algodUrl: expect.any(String),
      indexerUrl: expect.any(String),
      facilitatorUrl: expect.any(String),
      payers: { algorand: { address: expect.any(String), mnemonic: expect.any(String) } },
      sampleTransactions: { algorand: expect.any(String), algorandHeight: expect.any(Number) },
      attestor: { algorandAddress: expect.any(String), kid: expect.any(String), pqPublicKey: expect.any(String) },
    });
    expect(Object.values(found)).not.toContain(null);
    const history = JSON.parse(await readFile(here("keys.json"), "utf8"));
    expect(history.keys.at(-1)).toMatchObject(found.attestor);
    for (const name of ["sandbox.json", "attestd.toml", "data/attestor.pq-seed", "data/attestor.mnemonic"])
      expect((await stat(here(name))).mode & 0o777).toBe(0o600);
    const settings = await readFile(here("attestd.toml"), "utf8");
    expect(settings).toContain(`port = ${new URL(found.serviceUrl).port}\n`);
    for (const name of ["attestor.pq-seed", "attestor.mnemonic"]) {
      expect(settings).toContain(`"file:${here("data", name)}"`);
      expect(settings).not.toContain((await readFile(here("data", name), "utf8")).trim());
    }
  });

  test("the banner's commands, pasted into a shell, buy and verify a file", async () => {
    const banner = sandbox.out().split("\n");
    const [buy = "", check = ""] = banner.filter((line) => line.includes("npx attestd "));
    const paste = (line: string) => startShell(line, { cwd: folder.path }).ended;

    const bought = await paste(buy);
    expect(bought).toMatchObject({ code: 0, stdout: expect.stringMatching(/✓ verified, saved \S+\n/) });
    const file = /saved (\S+)/.exec(bought.stdout)?.[1] ?? "";
    const checked = await paste(check.replace("Then: ", "").replace("FILE", file));
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining(`Verified, with a warning  ${file}\n`) });
    const online = await run("verify", file, "--chain");
    expect(online).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n {2}recorded on the sandbox's ledger in round \d+, \S+ \S+ UTC\n/),
    });
  });

  test("sells an attestation of an Algorand transaction, and no payment file remains", async () => {
    const { sampleTransactions } = await description();
    const bought = await run("attest", sampleTransactions.algorand, "--json", "--out", "algorand.json");
    expect(JSON.parse(bought.stdout)).toMatchObject({ file: "algorand.json", verified: true });
    expect(await readdir(here("payments"))).toEqual([]);
  });

  test.each(["algorand", "base", "solana"])("has a payer with USDC on %s", async (rail) => {
    const { payers, sampleTransactions, algodUrl, solanaRpcUrl, serviceUrl } = await description();
    const wallet = join(folder.path, `${rail}.json`);
    await writeFile(wallet, JSON.stringify({ payers: { [rail]: payers[rail] }, algodUrl, solanaRpcUrl }));
    const bought = await run("attest", sampleTransactions.base, "--wallet", wallet, "--service", serviceUrl);
    expect(bought).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`USDC on ${rail}.*verified`, "is")),
    });
  });

  test("does not share its folder with another sandbox", async () => {
    const before = await readFile(here("sandbox.json"), "utf8");
    const second = await run("sandbox", "--port", "0");
    expect(second).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^attestd: another sandbox uses .*\n.*--dir/),
    });
    expect(await readFile(here("sandbox.json"), "utf8")).toBe(before);
  });

  test.each([
    ["--replay none", /^attestd: can't replay none\n {2}There is no such folder\.\n$/],
    ["--port 65536", /^attestd: option '--port <n>' argument '65536' is invalid\. Write a port, 0 to 65535/],
    [
      "--round-ms soon",
      /^attestd: option '--round-ms <n>' argument 'soon' is invalid\. Write whole milliseconds from 10 to 60000/,
    ],
  ])("does not start with %s", async (args, words) => {
    // Not the usual port, which a sandbox of the reader may have.
    const { code, stderr } = await run("sandbox", "--port", "0", ...args.split(" "));
    expect(stderr).toMatch(words);
    expect(code).toBe(2);
  });

  test("fails at once when its port is in use, and prints the option to change", async () => {
    const { port } = new URL((await description()).serviceUrl);
    expect(await run("sandbox", "--dir", "second", "--port", port)).toMatchObject({
      code: 2,
      stderr: `attestd: port ${port} is in use\n  Another program listens there.\n  Choose another with --port or PORT, or stop that program.\n`,
    });
    expect(existsSync(join(folder.path, "second"))).toBe(false);
    expect(await run("serve", "--sandbox")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("with port in the settings,"),
    });
  });

  test("keeps its networks when the service is killed; another service continues on them", async () => {
    const { sampleTransactions, serviceUrl } = await description();
    process.kill(servicePid(sandbox), "SIGKILL");
    await untilOutput(sandbox.err, /the service ended \(SIGKILL\)\. The networks keep running\.\n.*attestd serve/);

    const service = watch(["serve", "--sandbox"], { cwd: folder.path });
    await untilOutput(service.out, /"msg":"listening"/);
    expect(service.out()).toContain(serviceUrl);
    const bought = await run("attest", sampleTransactions.algorand, "--out", "restarted.json");
    expect(bought).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ verified") });
    service.kill("SIGTERM");
    expect((await service.ended).code).toBe(0);
  });

  test("ends all processes and removes its lock on SIGTERM", async () => {
    const processes = descendants(sandbox.pid ?? 0);
    expect(processes.length).toBeGreaterThan(0);
    sandbox.kill("SIGTERM");
    expect((await sandbox.ended).code).toBe(0);
    await until(() => expect(processes.filter(isAlive)).toEqual([]));
    expect((await readdir(here())).filter((name) => name.includes("lock"))).toEqual([]);
  });

  /** Starts a sandbox in the same folder, with what it says until it listens. */
  async function startAgain(args: string[] = [], env = {}): Promise<Running> {
    const again = watch(["sandbox", "--port", "0", "--round-ms", "500", ...args], { cwd: folder.path, env });
    await Promise.race([untilOutput(again.out, /"msg":"listening"/), again.ended]);
    return again;
  }

  /** The last round of the ledger. */
  const lastRound = async () => {
    const status = await fetch(`${(await description()).algodUrl}/v2/status`);
    return (JSON.parse(await status.text()) as { "last-round": number })["last-round"];
  };

  /** Kills only the parent: the children notice its end themselves. */
  async function killed(running: Running): Promise<void> {
    const processes = descendants(running.pid ?? 0);
    running.kill("SIGKILL");
    await running.ended;
    await until(() => expect(processes.filter(isAlive)).toEqual([]));
  }

  test("goes on where it was: wallets, keys, ledger; keeps other files there, and the settings that were added by hand too", async () => {
    const old = await description();
    await writeFile(here("precious.txt"), "mine");
    const file = here("attestd.toml");
    await writeFile(file, `public_url = "https://attestd.example"\n${await readFile(file, "utf8")}`);
    const again = await startAgain();
    const now = await description();
    const index = await fetch(`${now.serviceUrl}/llms.txt`);
    expect(await index.text()).toContain("(https://attestd.example/attest)");
    expect(await readFile(file, "utf8")).toContain(`public_url = "https://attestd.example"\n`);
    expect([now.payers, now.attestor]).toEqual([old.payers, old.attestor]);
    expect(await readFile(here("precious.txt"), "utf8")).toBe("mine");

    const { attest } = JSON.parse(await readFile(join(folder.path, "restarted.json"), "utf8"));
    expect(await lastRound()).toBeGreaterThan(attest.round);
    const bought = await run("attest", now.sampleTransactions.base, "--out", "second.json");
    expect(bought).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ verified") });
    await killed(again);
  });

  test("goes on after a kill: what was bought before is on its ledger, and more is sold", async () => {
    const again = await startAgain();
    const { sampleTransactions } = await description();
    const bought = await run("attest", sampleTransactions.algorand, "--out", "third.json");
    expect(bought).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ verified") });
    const files = ["restarted.json", "second.json", "third.json"];
    const checked = await run("verify", ...files, "--chain", "--json");
    expect(checked.code).toBe(0);
    for (const line of checked.stdout.trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ verified: true, checks: { chainSource: "pass", chainAttest: "pass" } });
    await killed(again);
  });

  test("names --fresh where the seed of its keys is gone", async () => {
    const seed = await readFile(here("data/attestor.pq-seed"), "utf8");
    await rm(here("data/attestor.pq-seed"));
    const tried = await startAgain();
    expect([(await tried.ended).code, tried.err()]).toEqual([2, expect.stringMatching(/seed .*\n.*add --fresh\.\n$/)]);
    await writeFile(here("data/attestor.pq-seed"), seed);
  });

  test.each([
    ["journal", "attestd.db", /did not start \(exit code 2\)\n.*damaged.*add --fresh\.\n$/],
    ["networks' file", "networks.db", /networks\.db: file is not a database\n.*add --fresh\.\n$/],
  ])("names --fresh where its %s has other bytes", async (_, name, words) => {
    for (const log of ["-wal", "-shm"]) await rm(here("data", name + log), { force: true });
    await writeFile(here("data", name), "not a database, but as long as the header of one is ".repeat(4));
    const tried = await startAgain();
    expect([(await tried.ended).code, tried.err()]).toEqual([2, expect.stringMatching(words)]);
  });

  test("starts a new one with --fresh, and keeps files that are not its own", async () => {
    const history = await readFile(here("keys.json"), "utf8");
    const fresh = await startAgain(["--fresh"]);
    const now = await description();
    expect(history).not.toContain(now.attestor.kid);
    expect(history).not.toContain(now.attestor.algorandAddress);
    expect(await readFile(here("precious.txt"), "utf8")).toBe("mine");
    expect(await lastRound()).toBeLessThan(100);
    const old = await run("verify", "restarted.json");
    expect([old.code, old.stdout]).toEqual([
      1,
      expect.stringMatching(/^\? Made for another ledger .*\n.*another sandbox, or in this one before .*--fresh/),
    ]);
    const bundle = await readFile(join(folder.path, "restarted.json"));
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${now.serviceUrl}/verify?chain=1`, { method: "POST", headers, body: bundle });
    const fault = { pointer: "/attest/note/g", message: expect.stringContaining("another sandbox's") };
    expect(JSON.parse(await answer.text())).toMatchObject({
      code: "bundle_rejected",
      detail: expect.stringContaining("made for another ledger, such as another sandbox's"),
      report: { failures: expect.arrayContaining([expect.objectContaining(fault)]) },
    });
    fresh.kill("SIGTERM");
    expect((await fresh.ended).code).toBe(0);
  });

  test("stops on SIGINT while it starts", async () => {
    const lock = join(folder.path, "fresh", "sandbox.lock");
    const starting = watch(["sandbox", "--port", "0", "--dir", "fresh"], { cwd: folder.path });
    await until(() => expect(existsSync(lock)).toBe(true));
    starting.kill("SIGINT");
    expect((await starting.ended).code).toBe(0);
    expect(existsSync(lock)).toBe(false);
  });
});

describe("attestd serve", () => {
  test("names every setting that is missing, in a sentence each", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "attestd.toml"), "");
    const { code, stderr } = await attestd(["serve"], { cwd: folder.path });
    const [first, ...others] = stderr.trimEnd().split("\n");
    expect([code, first]).toEqual([2, `attestd: ${others.length} faults in the settings`]);
    for (const key of ["journal.url", "chains.algorand.algod", "attestor.mnemonic", "rails.algorand.pay_to"])
      expect(others).toContain(`  ${key} is not set.`);
    expect(others).toContain(
      '  Rail algorand is always enabled, but no [[facilitators]] table has "algorand" in its rails.',
    );
  });

  test("says how to make a file of settings where there is none, and where the named one is missing", async () => {
    await using folder = await temporaryFolder();
    expect(await attestd(["serve"], { cwd: folder.path })).toMatchObject({
      code: 2,
      stderr:
        "attestd: There is no file attestd.toml. Write one: attestd settings > attestd.toml\n  Or name it: --settings FILE\n",
    });
    expect(await attestd(["serve", "--settings", "none.toml"], { cwd: folder.path })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no file none.toml."),
    });
  });

  test("takes PORT of the environment instead of the file's port, and no other setting from there", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "attestd.toml"), 'port = "nonsense"\n');
    const inFile = await attestd(["serve"], { cwd: folder.path });
    expect(inFile.stderr).toContain("  port must be a number, without quotation marks.\n");
    const env = { PORT: "0", DATABASE_URL: "sqlite:j.db" };
    const { stderr } = await attestd(["serve"], { cwd: folder.path, env });
    expect(stderr).not.toMatch(/^ {2}port /m);
    expect(stderr).toContain("journal.url is not set.");
    const wrong = await attestd(["serve"], { cwd: folder.path, env: { PORT: "http" } });
    expect(wrong.stderr).toContain("  port must be a number, without quotation marks.\n");
  });
});
