import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { testBundle, testHistory } from "../../../test/bundles/bundles.ts";
import { attestd, attestdProcess, PACKED, SHELL_COMMAND, start } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { EXIT } from "../src/failure.ts";
import { everyCommand, pathOf, program } from "../src/program.ts";
import { environmentOf } from "../src/terminal/environment.ts";

const BIN = fileURLToPath(new URL("../bin/attestd.js", import.meta.url));
const COMMANDS = everyCommand(
  program({
    environment: environmentOf({}, process, () => new AbortController().signal),
    finish: () => undefined,
  }),
);
const LOADED = fileURLToPath(new URL("./print-loaded.ts", import.meta.url));

test("attestd without arguments prints what it can do", async () => {
  const { code, stdout, stderr } = await attestd(["--help"]);
  expect(code).toBe(0);
  for (const name of ["sandbox", "serve", "attest", "verify", "keygen"]) expect(stdout).toMatch(`\n  ${name} `);
  expect(stdout).toContain("\nExit codes: 0 good; 1 not verified,");
  expect(stderr).toBe("");
  // Without anything to do, the same is an error.
  expect(await attestd([])).toEqual({ code: 2, stdout: "", stderr: stdout });
  expect(await attestd(["help"])).toEqual({ code: 0, stdout, stderr });
});

test("the page documents every exit code, and no other", async () => {
  const page = await readFile(new URL("../../../docs/command-line.md", import.meta.url), "utf8");
  const documented = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
  expect(documented).toEqual(Object.values(EXIT));
});

test.each(COMMANDS.map((command) => [pathOf(command), command] as const))(
  "the help of %s has examples and every option",
  async (path, command) => {
    const words = path.split(" ").slice(1);
    const { code, stdout, stderr } = await attestd([...words, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    const [what, ...lines] = stdout.split("\n");
    expect(what).toMatch(/^[A-Z].*[.,]?$/);
    expect(lines[0] === "" ? lines : lines.slice(0, lines.indexOf(""))).toContainEqual(
      expect.stringMatching(new RegExp(`^  (.* \\| )?(source <\\()?attestd ${words.join(" ")}`)),
    );
    for (const { long } of command.options) expect(stdout).toMatch(new RegExp(`\n  .*${long}.*  \\S`));
    expect((await attestd(["help", ...words])).stdout).toBe(stdout);
  },
);

test.each([
  ["frobnicate", "unknown command 'frobnicate'", "attestd <command> [options]", "attestd"],
  ["verfy b.json", "unknown command 'verfy'\n  Did you mean verify?", "attestd <command> [options]", "attestd"],
  [
    "keys histroy",
    "unknown command 'histroy'\n  Did you mean history?",
    "attestd keys <command> [options]",
    "attestd keys",
  ],
  ["verify", "missing required argument 'files'", "attestd verify [options] <files...>", "attestd verify"],
  [
    "verify b.json --jsn",
    "unknown option '--jsn'\n  Did you mean --json?",
    "attestd verify [options] <files...>",
    "attestd verify",
  ],
  [
    "verify b.json --keys",
    "option '--keys <file>' argument missing",
    "attestd verify [options] <files...>",
    "attestd verify",
  ],
  [
    "refund KEY",
    "required option '--transaction <id>' not specified",
    "attestd refund [options] <payment key>",
    "attestd refund",
  ],
  [
    "help verify history",
    "attestd verify has no command 'history'",
    "attestd verify [options] <files...>",
    "attestd verify",
  ],
])(
  "attestd %s is a usage error: prints the error, the usage, and where the examples are",
  async (line, what, usage, path) => {
    expect(await attestd(line.split(" "))).toEqual({
      code: 2,
      stdout: "",
      stderr: `attestd: ${what}\n  Usage: ${usage}\n  Examples and options: ${path} --help\n`,
    });
  },
);

if (PACKED)
  console.info(
    "cli-start: the packed command has no modules of its own to list; what verify loads is the sources' test",
  );
test.skipIf(PACKED)("verify loads the proof package and no code for chains", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), JSON.stringify(testBundle()));
  await writeFile(join(folder.path, "keys.json"), JSON.stringify(testHistory()));
  const { code, stderr } = await attestdProcess(["verify", "b.json", "--keys", "keys.json"], {
    cwd: folder.path,
    env: { NODE_OPTIONS: `--import ${LOADED}` },
  });
  expect(code).toBe(0);
  const loaded = stderr.trim().split("\n");
  expect(loaded.some((url) => url.includes("/packages/proof/"))).toBe(true);
  const foreign = loaded.filter(
    (url) =>
      !/\/packages\/(attestd|proof|service\/src\/lib\/regular-file\.ts|client\/src\/(body|chain-check|errors)\.ts|web\/src\/(batch-file|bundle-file|judge|receipt-file|printable|stake|trust-basis|present|verdict|words|pdf\/\w+)\.ts)|\/node_modules\/(@noble|commander)\//.test(
        url,
      ),
  );
  expect(foreign.filter((url) => !/\/packages\/attestd\/node_modules\/commander\//.test(url))).toEqual([]);
});

test("a reader that closes the output early does not change the exit code", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), "{}");
  const reader = start(["verify", "--json", ...Array<string>(50).fill("b.json")], { cwd: folder.path });
  reader.ended.catch(() => undefined);
  reader.stdout?.destroy();
  reader.stderr?.destroy();
  expect(await once(reader, "exit")).toEqual([3, null]);
});

test.skipIf(!existsSync("/dev/full"))("an output that cannot be written completely is an error", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), JSON.stringify(testBundle()));
  await writeFile(join(folder.path, "keys.json"), JSON.stringify(testHistory()));
  const check = `${SHELL_COMMAND} verify b.json --keys keys.json > /dev/full`;
  const { status, stderr } = spawnSync("sh", ["-c", check], { cwd: folder.path, encoding: "utf8" });
  expect([status, stderr]).toEqual([3, "attestd: the output is incomplete. The disk is full.\n"]);
});

test("Ctrl-C ends a waiting command with 130", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), JSON.stringify(testBundle()));
  await writeFile(join(folder.path, "keys.json"), JSON.stringify(testHistory()));
  await using server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ["verify", "b.json", "--keys", "keys.json", "--chain", "--service", service];
  const waiting = start(args, { cwd: folder.path });
  await once(server, "request");
  waiting.kill("SIGINT");
  expect(await waiting.ended).toEqual({
    code: 130,
    stdout: "",
    stderr: "attestd: interrupted\n  0 of 1 files were checked.\n",
  });
});

const TERMINAL = spawnSync("script", ["--version"]).error === undefined;
if (!TERMINAL) console.info("cli-start: no script(1) on PATH; a real terminal is not tested");
test.skipIf(!TERMINAL)("colours a terminal, and not a pipe", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), "{}");
  const check = `${SHELL_COMMAND} verify b.json`;
  const seen = (line: string, env = {}) =>
    spawnSync("script", ["-qec", line, "/dev/null"], {
      cwd: folder.path,
      encoding: "utf8",
      env: { PATH: process.env.PATH, TERM: "xterm", LANG: "C.UTF-8", ...env },
    }).stdout;
  expect(seen(check)).toBe(
    "\u001b[31m✕\u001b[39m Can't read  b.json\r\n  No bundle, receipt or key list of attestd. `attestd inspect` shows what else it may be.\r\n",
  );
  expect(seen(check, { NO_COLOR: "1" })).toMatch(/^✕ /);
  expect(seen(`${check} | cat`)).toMatch(/^✕ /);
});

/** A Node too old to run attestd itself, as a system's own may be. */
const oldNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find(
    (path) =>
      existsSync(path) && Number.parseInt(execFileSync(path, ["-p", "process.versions.node"]).toString(), 10) < 26,
  );
if (!oldNode) console.info("cli-start: no Node older than 26 on PATH; starting from one is not tried");

describe.each([
  ["this Node", process.execPath],
  ["an old Node", oldNode],
])("the installed command, started by %s", (_, node) => {
  test.skipIf(!node)("runs, and passes arguments, input and the exit code on", async () => {
    const run = (args: string[], input = "") =>
      spawnSync(node ?? "", [BIN, ...args], { input, encoding: "utf8", env: { ...process.env, LANG: "C.UTF-8" } });
    expect(run(["--version"])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^0\.1\.0\nrevision [0-9a-f]{40}\njournal schema \d+\n$/),
    });
    expect(run(["verify", "-"], "{")).toMatchObject({ status: 3, stdout: expect.stringContaining("Not JSON") });
  });
});
