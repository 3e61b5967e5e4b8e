import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { testBundle, testHistory } from "@attestd/proof/testing";
import { describe, expect, test } from "vitest";
import { attestdProcess as attestd, start, temporaryFolder } from "./command.ts";

const BIN = fileURLToPath(new URL("../bin/attestd.js", import.meta.url));
const LOADED = fileURLToPath(new URL("./print-loaded.ts", import.meta.url));

test("attestd alone says what it can do", async () => {
  const { code, stdout, stderr } = await attestd(["--help"]);
  expect(code).toBe(0);
  for (const name of ["sandbox", "serve", "attest", "verify", "keygen"]) expect(stdout).toMatch(`\n  ${name} `);
  expect(stderr).toBe("");
  expect((await attestd([])).code).toBe(2);
  expect(await attestd(["frobnicate"])).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown command") });
});

test("verify loads the proof package and nothing that talks to chains", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), JSON.stringify(testBundle()));
  await writeFile(join(folder.path, "keys.json"), JSON.stringify(testHistory()));
  const { code, stderr } = await attestd(["verify", "b.json", "--keys", "keys.json"], {
    cwd: folder.path,
    env: { NODE_OPTIONS: `--import ${LOADED}` },
  });
  expect(code).toBe(0);
  const loaded = stderr.trim().split("\n");
  expect(loaded.some((url) => url.includes("/packages/proof/"))).toBe(true);
  const foreign = loaded.filter(
    (url) =>
      !/\/packages\/(attestd|proof|client\/src\/chain-check\.ts|web\/src\/bundle-file\.ts)|\/node_modules\/(@noble|commander)\//.test(
        url,
      ),
  );
  expect(foreign.filter((url) => !/\/packages\/attestd\/node_modules\/commander\//.test(url))).toEqual([]);
});

test("a reader that goes away early changes no verdict", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), "{}");
  const reader = start(["verify", ...Array<string>(50).fill("b.json")], { cwd: folder.path });
  reader.ended.catch(() => undefined);
  reader.stdout?.destroy();
  expect(await once(reader, "exit")).toEqual([3, null]);
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
    expect(run(["--version"])).toMatchObject({ status: 0, stdout: "0.1.0\n" });
    expect(run(["verify", "-"], "{")).toMatchObject({ status: 3, stdout: expect.stringContaining("Not JSON") });
  });
});
