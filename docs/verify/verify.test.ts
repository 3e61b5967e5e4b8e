import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type KeyHistory, parseKeyHistory, verify } from "@attestd/proof";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CASES, type Case, HISTORIES } from "./bundles.ts";

/* The independent verifiers of this folder: what they say of every bundle of the table, and of keys. */

type Ended = { code: number; stdout: string; stderr: string };

/** Runs a command to its end, whatever that is. */
async function run(command: string, args: string[], cwd = import.meta.dirname, timeout = 0): Promise<Ended> {
  // Python would write compiled modules into this folder, and an older Go would fetch another one.
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", GOTOOLCHAIN: "local" };
  try {
    return { code: 0, ...(await promisify(execFile)(command, args, { cwd, env, timeout, maxBuffer: 2 ** 24 })) };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: number | string; stdout?: string; stderr?: string };
    return { code: typeof code === "number" ? code : 127, stdout, stderr: stderr || String(error) };
  }
}

type Verifier = { command: string; args: string[] } | { missing: string };

async function python(): Promise<Verifier> {
  const { code, stderr } = await run("python3", ["-c", "from cryptography.hazmat.primitives.asymmetric import mldsa"]);
  if (code !== 0) return { missing: `python3 has no ML-DSA; pip install 'cryptography>=48' (${lastLine(stderr)})` };
  return { command: "python3", args: ["python/verify.py"] };
}

/** Built once: what a reader does by `go run`, without its start each time. */
async function go(): Promise<Verifier> {
  const home = join(import.meta.dirname, "go");
  const modules = await run("go", ["mod", "download"], home, 30_000);
  if (modules.code !== 0) return { missing: `go, or its modules, cannot be had (${lastLine(modules.stderr)})` };
  const command = join(folder, "verify-go");
  const built = await run("go", ["build", "-o", command, "."], home);
  if (built.code !== 0) throw new Error(built.stderr);
  return { command, args: [] };
}

const lastLine = (text: string) => text.trim().split("\n").at(-1);

const VERIFIERS: Record<string, () => Promise<Verifier>> = {
  JavaScript: async () => ({ command: process.execPath, args: ["javascript/verify.mjs"] }),
  Python: python,
  Go: go,
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-verify-"));
  for (const [name, keys] of Object.entries(HISTORIES)) write(`${name}.json`, keys);
  for (const { name, text } of CASES) writeFileSync(fileOf(name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

const fileOf = (name: string) => join(folder, `${name.replace(/[^\w-]/g, "-")}.json`);
function write(name: string, value: object): string {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return join(folder, name);
}

/** What a verifier should print of a bundle. */
function expected({ name, text, failed, status, warnings }: Case): string {
  const file = fileOf(name);
  if (failed.includes("schema")) return [file, "FAIL schema", "not verified"].join("\n");
  const { attestor, checks } = verify(text);
  const offline = Object.keys(checks).filter((check) => !check.startsWith("chain"));
  const results = offline.map((check) => `${(failed as string[]).includes(check) ? "FAIL" : "pass"} ${check}`);
  const round = JSON.parse(text).attest.round;
  const verdict = [
    ...warnings.map((warning) => `warning ${warning}`),
    `verified, stated as recorded on Algorand in round ${round}`,
  ];
  return [
    file,
    ...results,
    `key ${attestor.kid} ${status}`,
    ...(failed.length === 0 ? verdict : ["not verified"]),
  ].join("\n");
}

/** The table's history, wrong in one way. */
const WRONG_HISTORIES: [name: string, change: (history: KeyHistory) => unknown][] = [
  ["the first key removed", ({ keys }) => keys.shift()],
  ["a key in between removed", ({ keys }) => keys.splice(1, 1)],
  ["the last key removed", ({ keys }) => keys.pop()],
  ["another first round", ({ keys }) => Object.assign(keys[2] ?? {}, { fromRound: 1999 })],
  [
    "another account",
    ({ keys }) => Object.assign(keys[1] ?? {}, { algorandAddress: HISTORIES.sandbox.keys[0]?.algorandAddress }),
  ],
  ["no endorsement", ({ keys }) => delete keys[1]?.endorsement],
  ["another's endorsement", ({ keys }) => Object.assign(keys[1] ?? {}, { endorsement: keys[2]?.endorsement })],
  ["another kid", ({ keys }) => Object.assign(keys[0] ?? {}, { kid: keys[1]?.kid })],
  ["another key", ({ keys }) => Object.assign(keys[0] ?? {}, { pqPublicKey: keys[1]?.pqPublicKey })],
  ["no keys", ({ keys }) => keys.splice(0)],
  ["an unknown member", (history) => Object.assign(history, { extra: 1 })],
];

describe.each(Object.entries(VERIFIERS))("the verifier in %s", (language, find) => {
  let verifier: Verifier;
  beforeAll(async () => {
    verifier = await find();
    if ("missing" in verifier) console.warn(`skipped: the verifier in ${language}: ${verifier.missing}`);
  });
  const verifying = (...args: string[]) => {
    if ("missing" in verifier) throw new Error(verifier.missing);
    return run(verifier.command, [...verifier.args, ...args]);
  };

  it.for(Object.keys(HISTORIES))(
    "says of each bundle of the table, by the history %s, what is right",
    async (keys, { skip }) => {
      skip("missing" in verifier);
      const cases = CASES.filter((one) => one.keys === keys);
      const { code, stdout } = await verifying(...cases.map(({ name }) => fileOf(name)), join(folder, `${keys}.json`));
      expect(stdout.trim().split("\n")).toEqual(cases.map(expected).join("\n").split("\n"));
      expect(code).toBe(cases.every(({ failed }) => failed.length === 0) ? 0 : 1);
    },
  );

  it("takes one key by its kid, for every round, and no other", async ({ skip }) => {
    skip("missing" in verifier);
    const file = fileOf("retired key after its rounds");
    const [known, another] = [HISTORIES.keys.keys[0]?.kid ?? "", HISTORIES.keys.keys[1]?.kid ?? ""];
    expect(await verifying(file, known)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("current\nverified"),
    });
    expect(await verifying(file, another)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("unknown\nnot verified"),
    });
  });

  it("refuses a history in which something is missing or changed", async ({ skip }) => {
    skip("missing" in verifier);
    const file = fileOf("algorand payment");
    const refusals = WRONG_HISTORIES.map(async ([name, change]) => {
      const history = structuredClone<KeyHistory>(HISTORIES.keys);
      change(history);
      expect(() => parseKeyHistory(history), name).toThrow();
      const { code, stdout } = await verifying(file, write(`wrong ${name}.json`, history));
      return [name, code, stdout];
    });
    expect(await Promise.all(refusals)).toEqual(WRONG_HISTORIES.map(([name]) => [name, 1, ""]));
  });
});
