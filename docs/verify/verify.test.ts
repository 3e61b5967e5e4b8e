import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeyHistory, parseKeyHistory } from "@attestd/proof";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testBundle, testHistory } from "../../test/bundles/bundles.ts";
import { testTakeover } from "../../test/bundles/takeover.ts";
import { CASES, type Case, HISTORIES, UNREADABLE } from "./bundles.ts";
import { PROGRAMS, type Program, printed, run } from "./programs.ts";

/* The independent verifiers of this folder: what they say of every bundle of the table, and of keys. */

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
  ["a successor with an account of its own", (history) => Object.assign(history, testTakeover().history)],
  ["no endorsement", ({ keys }) => delete keys[1]?.endorsement],
  ["another's endorsement", ({ keys }) => Object.assign(keys[1] ?? {}, { endorsement: keys[2]?.endorsement })],
  ["another kid", ({ keys }) => Object.assign(keys[0] ?? {}, { kid: keys[1]?.kid })],
  ["another key", ({ keys }) => Object.assign(keys[0] ?? {}, { pqPublicKey: keys[1]?.pqPublicKey })],
  ["no keys", ({ keys }) => keys.splice(0)],
  ["an unknown member", (history) => Object.assign(history, { extra: 1 })],
];

it("no file of a verifier is longer than 120 lines, so that it can be read", () => {
  const files = ["javascript", "python", "go"].flatMap((name) => {
    const home = join(import.meta.dirname, name);
    return readdirSync(home).map((file) => join(home, file));
  });
  const sources = files.filter((file) => /\.(mjs|py|go)$/.test(file));
  expect(sources.length).toBeGreaterThan(15);
  expect(sources.filter((file) => readFileSync(file, "utf8").split("\n").length > 121)).toEqual([]);
});

it("the page shows what the programs print", () => {
  const page = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
  const { name, text, ...right } = CASES.find((one) => one.name === "algorand payment") as Case;
  const lines = printed("bundle.json", JSON.stringify(testBundle()), right);
  expect(page).toContain(lines.map((line) => `    ${line}\n`).join(""));
});

describe.each(Object.entries(PROGRAMS))("the verifier in %s", (language, find) => {
  let verifier: Program;
  beforeAll(async () => {
    verifier = await find(folder);
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
      expect(stdout.trim().split("\n")).toEqual(cases.flatMap((one) => printed(fileOf(one.name), one.text, one)));
      expect(code).toBe(cases.every(({ failed }) => failed.length === 0) ? 0 : 1);
    },
  );

  it("says of what is no JSON that its form is wrong", async ({ skip }) => {
    skip("missing" in verifier);
    const files = UNREADABLE.map(({ name, bytes }) => {
      writeFileSync(fileOf(`unreadable ${name}`), bytes);
      return fileOf(`unreadable ${name}`);
    });
    const { code, stdout } = await verifying(...files, join(folder, "keys.json"));
    expect(stdout.trim().split("\n")).toEqual(files.flatMap((file) => [file, "FAIL schema", "not verified"]));
    expect(code).toBe(1);
  });

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

  it("verifies nothing for who took an attestor over by its seed alone", async ({ skip }) => {
    skip("missing" in verifier);
    const { history, bundle } = testTakeover();
    const [file, forged, honest] = [
      write("takeover.json", bundle),
      write("takeover keys.json", history),
      write("honest keys.json", testHistory()),
    ];
    expect(await verifying(file, forged)).toMatchObject({ code: 1, stdout: "" });
    expect(await verifying(file, honest)).toMatchObject({ code: 1, stdout: expect.stringContaining("unknown\nnot") });
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
