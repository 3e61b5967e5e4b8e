import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fakeService } from "../../packages/client/test/fake-service.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type Deployment, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";

/* Runs the README's example: code that shares nothing with ours buys and verifies. */

const DOCS = resolve(import.meta.dirname, "../../docs");
const node = (cwd: string, ...args: string[]) => promisify(execFile)(process.execPath, args, { cwd });

let deployment: Deployment;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] });
  folder = await temporaryFolder();
  const { algodUrl, payers, sampleTransactions } = deployment.sandbox;
  const keys = await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).text();
  await mkdir(join(folder.path, ".attestd"));
  const description = { serviceUrl: deployment.url, algodUrl, payers, sampleTransactions };
  await writeFile(join(folder.path, ".attestd/sandbox.json"), JSON.stringify(description));
  await writeFile(join(folder.path, ".attestd/keys.json"), keys);
});
afterAll(async () => {
  await deployment.close();
  await folder[Symbol.asyncDispose]();
});

test("the stock client of docs/examples buys a bundle, and the verifier of docs/verify verifies it", async () => {
  const { stdout } = await node(folder.path, join(DOCS, "examples/buy.mjs"));
  const bundle = JSON.parse(stdout);
  const { payments, attestations } = outsider(deployment.sandbox);
  // The indexer may be some rounds behind.
  const patient = { timeout: 20_000 };
  await expect.poll(async () => (await payments()).map(({ amount }) => amount), patient).toEqual([1000n]);
  await expect.poll(async () => (await attestations()).map(({ note }) => note), patient).toEqual([bundle.attest.note]);

  await writeFile(join(folder.path, "bundle.json"), stdout);
  const verifier = [join(DOCS, "verify/javascript/verify.mjs"), "bundle.json", ".attestd/keys.json"];
  expect((await node(folder.path, ...verifier)).stdout).toContain(`in round ${bundle.attest.round}`);

  bundle.attest.round += 1;
  await writeFile(join(folder.path, "bundle.json"), JSON.stringify(bundle));
  await expect(node(folder.path, ...verifier)).rejects.toMatchObject({ code: 1 });
});

test("the stock client of docs/examples signs one payment for a service that refuses it with 402", async () => {
  const unpaid = await fetch(`${deployment.url}/attest`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ txid: deployment.sandbox.sampleTransactions.algorand }),
  });
  const refusal = { status: 402, headers: { "payment-required": unpaid.headers.get("payment-required") ?? "" } };
  await using service = await fakeService(...Array(10).fill(refusal));
  await using elsewhere = await temporaryFolder();
  await mkdir(join(elsewhere.path, ".attestd"));
  const description = JSON.stringify({ ...deployment.sandbox, serviceUrl: service.url });
  await writeFile(join(elsewhere.path, ".attestd/sandbox.json"), description);
  await node(elsewhere.path, join(DOCS, "examples/buy.mjs")).catch(() => undefined);
  expect(service.requests.map(({ header }) => header !== undefined)).toEqual([false, true]);
});

test("the official A2A client of docs/examples buys a bundle", async () => {
  const { stdout } = await node(folder.path, join(DOCS, "examples/buy-over-a2a.mjs"));
  const notes = (await outsider(deployment.sandbox).attestations()).map(({ note }) => note);
  expect(notes).toContain(JSON.parse(stdout).attest.note);
});
