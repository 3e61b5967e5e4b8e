import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseKeyHistory, verify } from "@attestd/proof";
import { fromBase64 } from "@attestd/proof/encoding";
import { examine, readKeyHistory, revokeKey } from "@attestd/service/operator";
import { readSeeds, signerLog, startSigner } from "@attestd/service/signer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { type Settings, secret, settingsFileOf, withOver } from "../../packages/service/test/settings.ts";
import { start } from "../helpers/command.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { algorandClient, type Deployment, pay, sign, startDeployment } from "./deployment.ts";

/* A service without a seed, whose keys `attestd signer` has: each test continues from the one before. */

/** On a machine with whatever else to do. */
const PATIENTLY = { timeout: 60_000 };
const SEEDS = { first: "11".repeat(32), next: "22".repeat(32) };
type Running = Awaited<ReturnType<typeof startSigner>>;

let deployment: Deployment;
let folder: string;
let signer: Running | undefined;
let settings: Settings;
const said: string[] = [];
/** A bundle by the first key. */
let byFirst: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "attestd-e2e-signer-"));
  const sandbox = sandboxFolder(folder);
  await mkdir(sandbox.data, { recursive: true, mode: 0o700 });
  const over = {
    journal: { url: `sqlite:${join(sandbox.data, "journal.db")}` },
    attestor: { pq_seed: secret(SEEDS.first) },
  };
  deployment = await startDeployment({ networks: [] }, over);
  const own = await sandboxSettings(deployment.sandbox, sandbox, { ...over, log_level: "silent" });
  settings = withOver(own, socketSettings("signer.sock"));
});
afterAll(async () => {
  await deployment?.close();
  await signer?.close();
  await rm(folder, { recursive: true });
});

const operator = () => ({ sandbox: true, signal: AbortSignal.timeout(60_000) });
const path = (name: string) => join(folder, name);
const socketSettings = (socket: string) => ({
  attestor: { signer: "socket", socket: path(socket), mnemonic: undefined, pq_seed: undefined },
});

async function startAt(
  socket: string,
  seed: string,
  allowed: { endorse?: string; revoke?: string } = {},
): Promise<Running> {
  const { mnemonic } = deployment.sandbox.attestor;
  await writeFile(path("seed"), seed, { mode: 0o600 });
  await writeFile(path("mnemonic"), mnemonic, { mode: 0o600 });
  const seeds = readSeeds({ seed: path("seed"), mnemonic: path("mnemonic") });
  const genesisHash = fromBase64(deployment.sandbox.genesisHash);
  const log = signerLog({ write: (line) => void said.push(line) });
  return startSigner({ path: path(socket), group: false, seeds, genesisHash, log, ...allowed });
}

const body = () => ({ txid: deployment.sandbox.sampleTransactions.algorand });
const signed = async () => sign(`${deployment.url}/attest`, body(), algorandClient(deployment.sandbox));
const ready = async () => {
  const response = await fetch(`${deployment.url}/ready`);
  return { status: response.status, text: await response.text() };
};
const served = async () =>
  parseKeyHistory(await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).text());

/** What a change of the keys says that a signer was not started for: the record, and the round to repeat it with. */
async function told(change: Promise<unknown>): Promise<{ record: string; from: number }> {
  const error = await change.then(
    () => new Error("it was signed"),
    (thrown: Error) => thrown,
  );
  const [, record = "", from = ""] = / --(?:endorse|revoke) ([0-9a-f]{64}),.* --from (\d+)/.exec(error.message) ?? [];
  expect(error, error.message).toMatchObject({ code: "not_allowed" });
  expect(record).toHaveLength(64);
  return { record, from: Number(from) };
}

/** Runs a command as docs/key-ceremony.md has it; the ledger makes the rounds that it waits for at once. */
async function rotate(line: string) {
  const page = await readFile(new URL("../../docs/key-ceremony.md", import.meta.url), "utf8");
  expect(page).toContain(line.replace(/ --from \d+$/, ""));
  const settingsFile = sandboxFolder(folder).settings;
  const args = line.replace("/etc/attestd/attestd.toml", settingsFile).split(" ").slice(1);
  const running = start([...args, "--sandbox"], { cwd: folder });
  const { ledger } = deployment.sandbox.algorand;
  running.stderr.on("data", (text) => {
    const round = Number(/Waiting for round (\d+)/.exec(String(text))?.[1] ?? 0);
    while (ledger.round < round) ledger.advance();
  });
  return running.ended;
}

describe("a service whose keys are in a signer", () => {
  test("goes on with the journal of the seed, and sells", async () => {
    signer = await startAt("signer.sock", SEEDS.first);
    await deployment.restart(socketSettings("signer.sock"));
    const answer = await pay(`${deployment.url}/attest`, body(), await signed());
    expect(answer.status).toBe(200);
    byFirst = answer.text;
    const trust = await served();
    expect(verify(JSON.parse(answer.text), { trust }).verified).toBe(true);
    const forms = said.map((line) => JSON.parse(line).form).filter(Boolean);
    expect(new Set(forms)).toEqual(new Set(["probe", "note", "bundle", "receipt"]));
    expect(said.join()).not.toContain(SEEDS.first);
  });

  test("is examined by the doctor, which has each key sign a probe", async () => {
    const findings: unknown[] = [];
    for await (const { subject, ...finding } of examine(settings, operator()))
      if (subject === "signer") findings.push(finding);
    const message = expect.stringMatching(/the signer at .* signed a probe with each key/);
    expect(findings).toMatchObject([{ mark: "ok", message }]);
  });

  test("sells nothing while the signer is away, finishes what is paid, and sells again by itself", async () => {
    const [paid, promised] = [await signed(), await signed()];
    await signer?.close();
    const waiting = pay(`${deployment.url}/attest`, body(), paid);
    await expect.poll(async () => (await ready()).status, PATIENTLY).toBe(503);
    expect((await ready()).text).toContain("The attestor's signer (socket) does not sign");
    const refused = await pay(`${deployment.url}/attest`, body(), promised);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({ code: "signer_unavailable" });
    signer = await startAt("signer.sock", SEEDS.first);
    expect((await waiting).status).toBe(200);
    await expect.poll(async () => (await ready()).status, PATIENTLY).toBe(200);
    expect((await pay(`${deployment.url}/attest`, body(), promised)).status).toBe(200);
  }, 90_000);

  test("rotates to the key of another signer, once the first was started to endorse it", async () => {
    await deployment.stopService();
    const next = await startAt("next.sock", SEEDS.next);
    await writeFile(path("next.toml"), `[attestor]\nsigner = "socket"\nsocket = "${path("next.sock")}"\n`);
    settingsFileOf(withOver(settings, { log_level: "info" }).tables, sandboxFolder(folder).settings);
    const rotated = () => rotate("attestd keys rotate --settings /etc/attestd/attestd.toml --next next.toml");
    const refused = await rotated();
    const [, record = "", from = ""] =
      /Start it with --endorse (\w{64}), .*same command with --from (\d+)/.exec(refused.stderr) ?? [];
    // No other record is named, which somebody might start the signer for.
    expect([refused.code, [...new Set(refused.stderr.match(/[0-9a-f]{64}/g))]]).toEqual([2, [record]]);
    await signer?.close();
    signer = await startAt("signer.sock", SEEDS.first, { endorse: record });
    // Without the round it would be another record.
    expect((await rotated()).code).toBe(2);
    expect(
      await rotate(`attestd keys rotate --settings /etc/attestd/attestd.toml --next next.toml --from ${from}`),
    ).toMatchObject({
      code: 0,
    });
    const history = await readKeyHistory(withOver(settings, socketSettings("next.sock")), operator());
    expect(history.keys.map(({ kid }) => kid)).toEqual([signer.attestor.kid, next.attestor.kid]);
    await signer.close();
    signer = next;
    await deployment.restart(socketSettings("next.sock"));
    const answer = await pay(`${deployment.url}/attest`, body(), await signed());
    expect(verify(JSON.parse(answer.text), { trust: await served() })).toMatchObject({
      verified: true,
      attestor: { kid: next.attestor.kid, status: "current" },
    });
  }, 60_000);

  test("revokes the first key, once the signer was started to sign that", async () => {
    await deployment.stopService();
    const renewed = withOver(settings, socketSettings("next.sock"));
    const [first] = (await readKeyHistory(renewed, operator())).keys;
    const kid = first?.kid ?? "";
    const revoke = (round?: number) => revokeKey(renewed, { kid, round, onWait: () => undefined }, operator());
    const { record, from } = await told(revoke());
    await signer?.close();
    signer = await startAt("next.sock", SEEDS.next, { revoke: record });
    await told(revoke(from - 1));
    const { history } = await revoke(from);
    expect(history.keys.map(({ revokedRound }) => revokedRound !== undefined)).toEqual([true, false]);
    await deployment.restart(socketSettings("next.sock"));
    expect(verify(JSON.parse(byFirst), { trust: await served() })).toMatchObject({
      verified: false,
      attestor: { status: "revoked" },
    });
    expect((await pay(`${deployment.url}/attest`, body(), await signed())).status).toBe(200);
  }, 60_000);
});
