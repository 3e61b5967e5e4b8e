import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testBaseTransaction, testBundle, testHistory } from "../../../test/bundles/bundles.ts";
import { BASE_OFFER, delivery, fakeService, paymentRequired, problem } from "./fake-service.ts";

const packageFolder = resolve(import.meta.dirname, "..");
const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? "");

const bundle = testBundle({ chain: "base", txnBytes: testBaseTransaction(1) });
const bytes = new TextEncoder().encode(JSON.stringify(bundle));
const payers = {
  base: { address: "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", privateKey: `0x${"11".repeat(32)}` },
};
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-readme-"));
  mkdirSync(join(folder, ".attestd"));
  writeFileSync(join(folder, ".attestd/keys.json"), JSON.stringify(testHistory()));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs an example as a program inside this package, with its files in the test's folder. */
async function run(code: string): Promise<string> {
  const inFolder = (path: string) => JSON.stringify(join(folder, path));
  const placed = code.replace(/"(\.attestd\/\w+\.json|bundle\.json|payments)"/g, (_, path) => inFolder(path));
  const args = ["--input-type=module-typescript", "--eval", placed];
  return (await promisify(execFile)(process.execPath, args, { cwd: packageFolder })).stdout;
}

test("the first example buys a bundle, keeps it, and verifies it", async () => {
  await using service = await fakeService(paymentRequired([BASE_OFFER]), delivery(bytes));
  const sandbox = { serviceUrl: service.url, payers, sampleTransactions: { base: bundle.source.txnId } };
  writeFileSync(join(folder, ".attestd/sandbox.json"), JSON.stringify(sandbox));

  expect(examples).toHaveLength(2);
  expect(await run(examples[0] ?? "")).toBe(`true ${bundle.attest.round}\n`);
  expect(readFileSync(join(folder, "bundle.json"))).toEqual(Buffer.from(bytes));
});

test("the second example says what became of the money", async () => {
  await using service = await fakeService(problem(404, "source_not_found"));
  const options = `{ service: "${service.url}", txid: "${bundle.source.txnId}", maxPrice: "0.01", vault: memoryVault(),
    wallet: keyWallet(${JSON.stringify(payers)}) }`;
  const imports = 'import { keyWallet } from "@attestd/client";';
  expect(await run(`${imports}\n${examples[1]}\nconsole.log(await buy(${options}));`)).toBe(
    "not bought: detail of source_not_found\n",
  );
});
