import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testBundle, testHistory } from "../../../test/bundles/bundles.ts";
import { testEvidence } from "../../../test/bundles/evidence.ts";
import { bundleId } from "../src/bundle.ts";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? "");
const [verifying = "", failing = "", asking = "", reading = "", saying = "", native = ""] = examples;
const bundle = testBundle();
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-readme-"));
  writeFileSync(join(folder, "bundle.json"), JSON.stringify(bundle));
  writeFileSync(join(folder, "keys.json"), JSON.stringify(testHistory()));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs an example as a program that stands in this package, its files in the test's folder. */
function run(code: string): string {
  const placed = code.replace(/"(bundle|keys|recorded|evidence|checkpoint)\.json"/g, (_, name) =>
    JSON.stringify(join(folder, `${name}.json`)),
  );
  const options = { cwd: packageFolder, encoding: "utf8" } as const;
  return execFileSync(process.execPath, ["--input-type=module-typescript", "--eval", placed], options);
}

it("the first example verifies a bundle", () => {
  expect(examples).toHaveLength(6);
  expect(run(verifying)).toMatch(/^Verified/);
});

it("the second example prints what it says that it prints", () => {
  const said = [...failing.matchAll(/\/\/ (.*)/g)].map(([, line]) => line);
  expect(run(failing).trim().split("\n")).toEqual(said);
});

it("the third example shows what the stake of a network recorded", () => {
  const { bundle: recorded, evidence, checkpoint } = testEvidence();
  const place = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value));
  place("recorded.json", recorded);
  place("evidence.json", evidence);
  place("checkpoint.json", checkpoint);
  expect(run(asking.replace("bundle.json", "recorded.json"))).toBe("true 1000 2026-05-28T20:27:01.000Z\n");
});

it("the fourth example reads a bundle", () => {
  expect(run(reading)).toBe(`${bundleId(bundle)} ${bundle.attest.round} ${bundle.source.txnId}\n`);
});

it("the fifth example says what was attested", () => {
  expect(run(saying)).toMatch(
    /^On 28 May 2026 at 20:26:40 UTC, account [A-Z2-7]{58} sent 1\.00 ALGO to account [A-Z2-7]{58} in transaction/,
  );
});

it("the sixth example verifies with Node's own cryptography", () => {
  expect(run(`${native}\n${verifying.replace("{ trust }", "{ trust, crypto }")}`)).toMatch(/^Verified/);
});
