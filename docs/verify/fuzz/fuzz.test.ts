import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROGRAMS, type Program, run } from "../programs.ts";
import { type Corpus, makeCorpus } from "./corpus.ts";
import { type Disagreement, fuzz, kindOf, type Run } from "./run.ts";
import type { Kind } from "./tasks.ts";
import { library, program, type Verifier } from "./verifiers.ts";

/* The fuzzer finds nothing in the verifiers as they are, and finds what is put into any of them. */

const ROOT = resolve(import.meta.dirname, "../../..");
let folder: string;
let corpus: Corpus;
let programs: Record<string, Program>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "attestd-fuzz-"));
  corpus = makeCorpus([]);
  programs = Object.fromEntries(
    await Promise.all(Object.entries(PROGRAMS).map(async ([language, find]) => [language, await find(folder)])),
  );
  for (const [language, found] of Object.entries(programs))
    if ("missing" in found) console.warn(`skipped: the verifier in ${language}: ${found.missing}`);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The disagreements of a run. */
async function disagreements(run: Omit<Run, "corpus">) {
  const all: Disagreement[] = [];
  for await (const { disagreements: found } of fuzz({ ...run, corpus })) all.push(...found);
  return all;
}

it("the library and the programs say the same of 500 files of all kinds", async () => {
  const verifiers: Record<string, Verifier> = {
    library: library(),
    "library without Falcon": library(undefined, false),
  };
  for (const [language, found] of Object.entries(programs))
    if (!("missing" in found)) verifiers[language] = program(found, folder, language !== "Python");
  const found = await disagreements({ verifiers, seed: "1", from: 0, runs: 500 });
  expect(found.map((one) => `${one.index} ${kindOf(one)}`)).toEqual([]);
}, 240_000);

/** Of each verifier a line, what it would be with a defect, and the kind of file by which that shows. */
const DEFECTS: [name: string, file: string, right: string, wrong: string, kind: Kind][] = [
  ["JavaScript takes an extension by nothing", "javascript/base.mjs", '(path || flag === "20")', "true", "bundle"],
  [
    "Python takes a member twice in msgpack",
    "python/msgpack.py",
    "(is_text, name) <= last",
    "(is_text, name) < last",
    "bundle",
  ],
  ["Go takes a byte with a prefix in RLP", "go/rlp.go", "item.payload[0] >= 0x80", "true", "bundle"],
  ["the library takes a retired key's next round", "src/trust.ts", "round >= endRound", "round > endRound", "bundle"],
  [
    "JavaScript takes a receipt of any signer",
    "javascript/receipt.mjs",
    "const verified = isTrusted && isSigned",
    "const verified = true",
    "receipt",
  ],
  [
    "Python takes a history of two accounts",
    "python/keys.py",
    'key["algorandAddress"] == keys[0]["algorandAddress"]',
    "True",
    "history",
  ],
  ["Go takes a key of small order", "go/ed25519.go", "isNeutral(multiply(a, cofactor))", "false", "evidence"],
  [
    "Python takes a message without its checkpoint",
    "python/evidence.py",
    'first != item["checkpoint"]["round"] + 1',
    "False",
    "evidence",
  ],
  [
    "JavaScript takes an item at another place",
    "javascript/batch.mjs",
    "bundle.proof?.index === index",
    "true",
    "batch",
  ],
  [
    "Python takes another root",
    "python/batch.py",
    'return last == 0 and root == b64decode(head["root"])',
    "return last == 0",
    "item",
  ],
];

/** A copy of a folder with one line altered. */
function altered(name: string, home: string, file: string, right: string, wrong: string): string {
  const copy = join(folder, name.replaceAll(" ", "-"));
  const path = join(copy, file);
  cpSync(home, copy, { recursive: true, filter: (from) => !/node_modules|tsconfig/.test(from) });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const text = readFileSync(path, "utf8");
  expect(text).toContain(right);
  writeFileSync(path, text.replace(right, wrong));
  return copy;
}

describe("a defect is found", () => {
  it.for(DEFECTS)("%s", async ([name, file, right, wrong, kind], { skip }) => {
    const language = name.split(" ")[0] ?? "";
    const verifiers: Record<string, Verifier> = {};
    if (language === "the") {
      const copy = altered(name, join(ROOT, "packages/proof"), file, right, wrong);
      verifiers.right = library();
      verifiers.wrong = library(await import(pathToFileURL(join(copy, "src/index.ts")).href));
    } else {
      const found = programs[language];
      if (found === undefined || "missing" in found) return skip();
      const copy = altered(name, resolve(import.meta.dirname, ".."), file, right, wrong);
      const hasFalcon = language !== "Python";
      verifiers.right = program(found, folder, hasFalcon);
      verifiers.wrong = program(await rebuilt(language, copy, found), folder, hasFalcon);
    }
    let found: Disagreement[] = [];
    for (let from = 0; found.length === 0 && from < 5000; from += 100)
      found = await disagreements({ verifiers, seed: "1", from, runs: 100, only: kind });
    expect(found).not.toEqual([]);
  });

  async function rebuilt(language: string, copy: string, { command, args }: Exclude<Program, { missing: string }>) {
    if (language !== "Go") return { command, args: args.map((file) => join(copy, file)) };
    const built = await run("go", ["build", "-o", join(copy, "altered"), "."], join(copy, "go"));
    expect(built.stderr).toBe("");
    return { command: join(copy, "altered"), args };
  }
});
