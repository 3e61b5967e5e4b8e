import { execFileSync } from "node:child_process";
import { chmod, copyFile, link, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testBundle, testHistory } from "../../../test/bundles/bundles.ts";
import { SANDBOX_LEDGER, sandboxHistory } from "../../../test/e2e/key-histories.ts";
import { attestd, attestdProcess, SHELL_COMMAND, startShell } from "../../../test/helpers/command.ts";
import { runningSandbox } from "../../../test/helpers/running-sandbox.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";

/* A folder that someone else made: a clone, an archive that was unpacked, a shared folder. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const inFolder = (...names: string[]) => join(folder.path, ...names);
beforeEach(async () => {
  folder = await temporaryFolder();
  await writeFile(inFolder("b.json"), JSON.stringify(testBundle()));
  await writeFile(inFolder("keys.json"), JSON.stringify(testHistory()));
});
afterEach(() => folder[Symbol.asyncDispose]());

const run = (...args: string[]) => attestd(args, { cwd: folder.path });
/** In a process of its own: an endless file would take the memory of this one. */
const verify = (...args: string[]) => attestdProcess(["verify", ...args], { cwd: folder.path });
const pipe = (name: string) => void execFileSync("mkfifo", [inFolder(name)]);

describe("what stands beside a bundle is read only where it is a file", () => {
  test("a receipt that is a named pipe", async () => {
    pipe("b.receipt.json");
    const { code, stdout } = await verify("b.json", "--keys", "keys.json");
    expect(stdout).toMatch(
      /^✓ Verified {2}b\.json\n.*✕ Not verified {2}b\.receipt\.json\n.*It is a named pipe, not a file\./s,
    );
    expect(code).toBe(1);
  });

  test.each(["/dev/zero", "/dev/tty", "keys.json"])("evidence that is a link to %s", async (target) => {
    await symlink(target, inFolder("b.evidence.json"));
    const { code, stderr } = await verify("b.json", "--keys", "keys.json", "--checkpoint", "mainnet-59999744");
    expect(stderr).toBe("attestd: can't read b.evidence.json\n  It is a link, which is not followed here.\n");
    expect(code).toBe(3);
  });

  test("a state proof that is a link is none", async () => {
    const { stateProofFile } = await import("../src/trust/evidence-file.ts");
    const { readFound } = await import("../src/files/files.ts");
    await symlink("/dev/zero", stateProofFile(folder.path, "00"));
    expect(() => readFound(stateProofFile(folder.path, "00"), 10)).toThrow("It is a link");
  });
});

describe("what *.json names is read only where it is a file", () => {
  test.each([
    ["a named pipe", () => pipe("c.json"), "It is a named pipe, not a file."],
    ["a device", () => symlink("/dev/zero", inFolder("c.json")), "It is a device, not a file."],
  ])("%s", async (_, make, why) => {
    await make();
    const { code, stdout } = await verify("b.json", "c.json", "--keys", "keys.json");
    expect(stdout).toContain(why);
    expect(stdout).toContain("1 verified, 1 unreadable");
    expect(code).toBe(3);
  });

  test.each([
    ["--keys", ["verify", "b.json", "--keys", "c.json"]],
    ["--evidence", ["verify", "b.json", "--keys", "keys.json", "--evidence", "c.json"]],
    ["--checkpoint", ["verify", "b.json", "--keys", "keys.json", "--checkpoint", "c.json"]],
    ["--file", ["attest", "--file", "c.json", "--service", "http://127.0.0.1:1", "--wallet", "keys.json"]],
    ["--wallet", ["attest", testBundle().source.txnId, "--service", "http://127.0.0.1:1", "--wallet", "c.json"]],
    ["--settings", ["doctor", "--settings", "c.json"]],
  ])("%s", async (_, args) => {
    pipe("c.json");
    const { code, stderr } = await attestdProcess(args, { cwd: folder.path });
    expect(stderr).toMatch(/^attestd: .*c\.json(\n {2}|, cannot be read\. )It is a named pipe, not a file\.\n/);
    expect(code).toBe(args[0] === "doctor" ? 2 : 3);
  });
});

test("a pipe that the shell passes to the command is read as a file is", async () => {
  const line = `cat b.json | ${SHELL_COMMAND} verify /dev/fd/3 /dev/stdin --keys keys.json 3<&0 <keys.json`;
  const { stdout, code } = await startShell(line, { cwd: folder.path }).ended;
  expect(stdout).toMatch(/✓ Verified +\/dev\/fd\/3 /);
  expect(stdout).toMatch(/✕ Can't read +\/dev\/stdin +A key history, not a bundle/);
  expect(code).toBe(3);
});

describe("the keys in ./.attestd count only while a sandbox of this user runs there", () => {
  const files = { "sandbox.json": { serviceUrl: "http://127.0.0.1:4020" }, "keys.json": sandboxHistory() };
  beforeEach(() => writeFile(inFolder("s.json"), JSON.stringify(testBundle({ ledger: SANDBOX_LEDGER }))));
  const verdict = async () => {
    const { code, stdout, stderr } = await verify("s.json", "--json");
    return { code, stderr, ...(JSON.parse(stdout) as { verified: boolean; trust: unknown }) };
  };
  const LEFT_OUT = {
    code: 1,
    verified: false,
    trust: null,
    stderr:
      "attestd: .attestd/keys.json is not used: no sandbox of yours runs here. To trust it, name it: --keys .attestd/keys.json\n",
  };

  test("not those of a clone, whose lock no process holds", async () => {
    (await runningSandbox(folder.path, files))[Symbol.dispose]();
    expect(await verdict()).toMatchObject(LEFT_OUT);
    await writeFile(inFolder(".attestd", "sandbox.lock"), "", { mode: 0o600 });
    expect(await verdict()).toMatchObject(LEFT_OUT);
    // Whoever names them trusts them.
    expect(await verify("s.json", "--keys", ".attestd/keys.json")).toMatchObject({ code: 0 });
  });

  test("those of a sandbox that runs, and not once its process was killed", async () => {
    const { lockFile } = { lockFile: new URL("../src/files/folder-lock.ts", import.meta.url).href };
    (await runningSandbox(folder.path, files))[Symbol.dispose]();
    const hold = `const { lockFile } = await import(${JSON.stringify(lockFile)});
      globalThis.lock = lockFile(${JSON.stringify(inFolder(".attestd", "sandbox.lock"))}, "", "");
      console.log("held"); setInterval(() => undefined, 1e9);`;
    const { spawn } = await import("node:child_process");
    const holder = spawn(process.execPath, ["--input-type=module", "--eval", hold]);
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    expect(await verdict()).toMatchObject({ code: 0, verified: true, trust: { basis: "sandbox" }, stderr: "" });
    const ended = new Promise((resolve) => holder.once("exit", resolve));
    holder.kill("SIGKILL");
    await ended;
    expect(await verdict()).toMatchObject(LEFT_OUT);
  });

  test.each([
    ["that others can open", (lock: string) => chmod(lock, 0o666)],
    ["that has another name", (lock: string) => link(lock, `${lock}-too`)],
  ])("not by a lock %s", async (_, change) => {
    using _lock = await runningSandbox(folder.path, files);
    expect(await verdict()).toMatchObject({ code: 0, verified: true });
    await change(inFolder(".attestd", "sandbox.lock"));
    expect(await verdict()).toMatchObject(LEFT_OUT);
  });

  test("not by a link to another sandbox's lock", async () => {
    await using elsewhere = await temporaryFolder();
    using _lock = await runningSandbox(elsewhere.path, files);
    await mkdir(inFolder(".attestd"));
    for (const name of Object.keys(files))
      await copyFile(join(elsewhere.path, ".attestd", name), inFolder(".attestd", name));
    await symlink(join(elsewhere.path, ".attestd", "sandbox.lock"), inFolder(".attestd", "sandbox.lock"));
    expect(await verdict()).toMatchObject(LEFT_OUT);
  });

  test("nor is a device read in their place", async () => {
    await mkdir(inFolder(".attestd"));
    await symlink("/dev/zero", inFolder(".attestd", "keys.json"));
    expect(await verdict()).toMatchObject(LEFT_OUT);
    using _lock = await runningSandbox(folder.path, { "sandbox.json": files["sandbox.json"] });
    const { code, stderr } = await verify("s.json");
    expect(stderr).toBe("attestd: can't read .attestd/keys.json\n  It is a link, which is not followed here.\n");
    expect(code).toBe(3);
  });
});

test("no control or bidirectional character of a name reaches the output, and --json keeps the name", async () => {
  const name = "x\u009b31m\u0085\u202e\u2066\u001b[2J\u007f\u{e0001}.json";
  await copyFile(inFolder("b.json"), inFolder(name));
  await writeFile(inFolder("n.json"), JSON.stringify({ ...testBundle(), [name]: 1 }));
  const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
  for (const args of [
    ["verify", name, "n.json", "--keys", "keys.json"],
    ["verify", name, "n.json", "--keys", "keys.json", "--json"],
    ["verify", `${name}.not`, "--json"],
    ["inspect", name, "n.json"],
    ["inspect", name, "n.json", "--json"],
    ["export", name, "n.json", "--keys", "keys.json"],
    ["export", name, "n.json", "--keys", "keys.json", "--json"],
  ]) {
    const { stdout, stderr } = await run(...args);
    const lines = `${stdout}${stderr}`.split(/\r?\n/);
    expect(lines.filter((line) => unprintable.test(line))).toEqual([]);
    if (args[0] !== "export" && args.includes("--json"))
      expect(JSON.parse(stdout.split("\n")[0] ?? "").file).toBe(args[1]);
  }
  expect(JSON.parse(await readFile(inFolder(name), "utf8"))).toEqual(testBundle());
});
