import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseKeyHistory, verify } from "@attestd/proof";
import { examine, readKeyHistory, revokeKey, rotateKey } from "@attestd/service/operator";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { type FakeKms, startKms } from "../../packages/service/test/fakes/kms/server.ts";
import { merged, type Settings, secret, withOver } from "../../packages/service/test/settings.ts";
import { keysOf, kmsEnvironment, kmsSettings, type Provider } from "../crash/kms-server.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { algorandClient, type Deployment, pay, sign, startDeployment } from "./deployment.ts";

/* One attestor whose keys move from a seed to AWS KMS and to Google Cloud KMS: each test continues from the one before. */

type Keys = ReturnType<typeof keysOf>;

let deployment: Deployment;
let folder: string;
let kms: FakeKms;
let keys: Record<Provider, Keys>;
let settings: Settings;
/** A bundle by the key in AWS KMS. */
let byAws: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "attestd-e2e-kms-"));
  const sandbox = sandboxFolder(folder);
  await mkdir(sandbox.data, { recursive: true, mode: 0o700 });
  const journal = { url: `sqlite:${join(sandbox.data, "journal.db")}` };
  const over = { journal, attestor: { pq_seed: secret("11".repeat(32)) } };
  deployment = await startDeployment({ networks: [] }, over);
  settings = await sandboxSettings(deployment.sandbox, sandbox, { ...over, log_level: "silent" });
  const { mnemonic } = deployment.sandbox.attestor;
  keys = { aws: keysOf("aws", mnemonic), google: keysOf("google", mnemonic) };
  kms = await startKms(Object.values(keys).flatMap((both) => Object.values(both)));
  for (const [name, value] of Object.entries(kmsEnvironment(kms.url))) vi.stubEnv(name, value);
});
afterAll(async () => {
  await deployment?.close();
  await kms?.close();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const operator = () => ({ sandbox: true, signal: AbortSignal.timeout(60_000) });
const body = () => ({ txid: deployment.sandbox.sampleTransactions.algorand });
const signed = async () => sign(`${deployment.url}/attest`, body(), algorandClient(deployment.sandbox));
const buy = async (payment: Awaited<ReturnType<typeof signed>>) => pay(`${deployment.url}/attest`, body(), payment);
const readiness = async () => {
  const response = await fetch(`${deployment.url}/ready`);
  return { status: response.status, text: await response.text() };
};
const trust = async () =>
  parseKeyHistory(await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).text());
const signs = () => kms.requests.filter((operation) => operation.endsWith("Sign")).length;

/** Moves the keys, as an operator does, while no service runs; then starts the service with them. */
async function rotateTo(provider: Provider): Promise<void> {
  await deployment.stopService();
  const changed = { attestor: kmsSettings(provider, kms.url) };
  const { ledger } = deployment.sandbox.algorand;
  const onWait = (round: number) => {
    while (ledger.round < round) ledger.advance();
  };
  await rotateKey(settings, { attestor: async (current) => merged(current, changed.attestor), onWait }, operator());
  settings = withOver(settings, changed);
  await deployment.restart(changed);
}

const rotates = (provider: Provider) => async () => {
  await rotateTo(provider);
  const payment = await signed();
  const before = signs();
  const answer = await buy(payment);
  expect(answer.status).toBe(200);
  // The attestation, the bundle, the receipt.
  expect(signs() - before).toBe(3);
  const { verified, attestor } = verify(answer.text, { trust: await trust() });
  expect({ verified, status: attestor.status }).toEqual({ verified: true, status: "current" });
};

test("a service rotates from its seed into AWS KMS, and sells with one request for each signature", rotates("aws"));

test("it delivers nothing signed wrongly", async () => {
  const payment = await signed();
  kms.faults.push("flipped", "other-key", "short");
  const before = signs();
  const answer = await buy(payment);
  expect(answer.status).toBe(200);
  expect(signs() - before).toBeGreaterThan(3);
  expect(verify(answer.text, { trust: await trust() }).verified).toBe(true);
  byAws = answer.text;
});

test("it stops sales while a key is disabled, finishes what is paid, and sells again by itself", async () => {
  const payment = await signed();
  const { pq, account } = keys.aws;
  const paid = Promise.withResolvers<void>();
  kms.onSign = () => {
    pq.state = "disabled";
    account.state = "disabled";
    paid.resolve();
  };
  const waiting = buy(payment);
  await paid.promise;
  await vi.waitFor(async () => expect((await readiness()).status).toBe(503), { timeout: 30_000 });
  expect((await readiness()).text).toContain("signer (aws-kms) does not sign");
  const [finding] = await signerFindings();
  expect(finding).toMatchObject({ mark: "fail", message: expect.stringContaining("is disabled: enable it") });
  kms.onSign = undefined;
  pq.state = "enabled";
  account.state = "enabled";
  expect((await waiting).status).toBe(200);
  await vi.waitFor(async () => expect((await readiness()).status).toBe(200), { timeout: 30_000 });
  const [ok] = await signerFindings();
  expect(ok).toMatchObject({ mark: "ok" });
}, 90_000);

test("it rotates from AWS KMS into Google Cloud KMS, and sells", rotates("google"));

test("by the key in Google Cloud KMS it revokes the one in AWS KMS", async () => {
  const bought = await buy(await signed());
  await deployment.stopService();
  const { keys: known } = await readKeyHistory(settings, operator());
  const kid = known.at(-2)?.kid ?? "";
  const { history } = await revokeKey(settings, { kid, round: undefined, onWait: () => undefined }, operator());
  expect(history.keys.map(({ revokedRound }) => revokedRound !== undefined)).toEqual([false, true, false]);
  await deployment.restart({});
  expect(verify(byAws, { trust: await trust() })).toMatchObject({ verified: false, attestor: { status: "revoked" } });
  expect(verify(bought.text, { trust: await trust() }).verified).toBe(true);
  expect((await buy(await signed())).status).toBe(200);
}, 60_000);

async function signerFindings(): Promise<unknown[]> {
  const findings: unknown[] = [];
  for await (const { subject, ...finding } of examine(settings, operator())) {
    if (subject === "signer") findings.push(finding);
    if (findings.length > 0) break;
  }
  return findings;
}
