import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type KeyHistory, verify } from "@attestd/proof";
import { getMap, type MsgpackMap, splitBlock } from "@attestd/proof/algorand";
import { authorisationItem } from "@attestd/proof/evidence";
import { auditJournal, rekeyAccount, rotateKey } from "@attestd/service/operator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { recordItem } from "../../packages/service/src/ledger/evidence/evidence-file.ts";
import { include } from "../../packages/service/src/ledger/evidence/work.ts";
import { merged, type Settings, secret, type Table, withOver } from "../../packages/service/test/settings.ts";
import { attestd } from "../helpers/command.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { algorandClient, type Deployment, pay, sign, startDeployment } from "./deployment.ts";

/* An attestor whose account is rekeyed to a Falcon key: each test continues from the one before. */

let deployment: Deployment;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let settings: Settings;
let falcon: Table;
let authorizer: string | undefined;
const path = (name: string) => join(folder.path, name);
const operator = () => ({ sandbox: true, signal: AbortSignal.timeout(60_000) });
const bundles: { attest: { txnId: string; round: number } }[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  const sandbox = sandboxFolder(path(".attestd"));
  await mkdir(sandbox.data, { recursive: true, mode: 0o700 });
  const over = {
    journal: { url: `sqlite:${join(sandbox.data, "journal.db")}` },
    attestor: { pq_seed: secret("11".repeat(32)) },
  };
  deployment = await startDeployment({ networks: [] }, over);
  settings = await sandboxSettings(deployment.sandbox, sandbox, { ...over, log_level: "silent" });
});
afterAll(async () => {
  await deployment?.close();
  await folder?.[Symbol.asyncDispose]();
});

async function buy(): Promise<void> {
  const url = `${deployment.url}/attest`;
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  const answer = await pay(url, body, await sign(url, body, algorandClient(deployment.sandbox)));
  expect(answer.status, answer.text).toBe(200);
  const trust = (await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).json()) as KeyHistory;
  const bundle = JSON.parse(answer.text);
  expect(verify(bundle, { trust }).verified).toBe(true);
  bundles.push(bundle);
}

/** The block's entry of a bundle's attestation, as the node serves it. */
async function entryOf({ attest }: { attest: { round: number } }): Promise<MsgpackMap> {
  const { algodUrl } = deployment.sandbox;
  const block = await fetch(`${algodUrl}/v2/blocks/${attest.round}?format=msgpack`);
  const { transactions } = splitBlock(await block.bytes());
  return transactions.find((entry) => entry.has("pqsig")) as MsgpackMap;
}

describe("an attestor with a Falcon account", () => {
  test("is made by keygen, and does not sell before the account is rekeyed to it", async () => {
    await buy();
    const made = await attestd(["keygen", "--falcon", "--dir", "next", "--json"], { cwd: folder.path });
    expect(made.code, made.stderr).toBe(0);
    const file = path("next/attestor.falcon-mnemonic");
    expect(JSON.parse(made.stdout).settings).toMatchObject({ "attestor.falcon_mnemonic": `file:${file}` });
    const { address } = deployment.sandbox.attestor;
    falcon = { attestor: { falcon_mnemonic: `file:${file}`, mnemonic: undefined, address } };
    await deployment.stopService();
    await expect(deployment.restart(falcon)).rejects.toThrow(/authorises with its own key/);
    const attestor = async (current: Table) => merged(current, falcon.attestor as Table);
    const rekey = () => rekeyAccount(settings, { attestor }, operator());
    const first = await rekey();
    expect(first).toMatchObject({ address: deployment.sandbox.attestor.address, txid: expect.any(String) });
    expect(first.authorizer).toBe(JSON.parse(made.stdout).algorandAddress);
    authorizer = first.authorizer;
    const { txid: _, ...again } = first;
    expect(await rekey()).toEqual(again);
    // The ledger takes the old key no more.
    await expect(
      deployment.restart({
        attestor: {
          ...(settings.tables.attestor as Table),
          falcon_mnemonic: undefined,
          address: undefined,
        },
      }),
    ).rejects.toThrow(/is rekeyed to/);
    settings = withOver(settings, falcon);
    await deployment.restart(falcon);
  }, 60_000);

  test("sells under the same address, for three minimum fees", async () => {
    for (let i = 0; i < 3; i++) await buy();
    const entry = await entryOf(bundles.at(-1) as (typeof bundles)[0]);
    expect(getMap(entry, "txn")?.get("fee")).toBe(3000);
    expect(entry.has("sig")).toBe(false);
    expect(new Uint8Array(entry.get("sgnr") as Uint8Array)).toHaveLength(32);
  }, 60_000);

  test("has evidence of its own signature", async () => {
    const bundle = bundles.at(-1) as (typeof bundles)[0];
    const { txnId, round } = bundle.attest;
    const block = await fetch(`${deployment.sandbox.algodUrl}/v2/blocks/${round}?format=msgpack`);
    // Not included where the signature is wrong.
    const shown = await include(await block.bytes(), round, [{ txnId }], JSON.stringify(bundle));
    const inclusion = shown.found[0]?.inclusion;
    expect(inclusion && authorisationItem(recordItem(shown.headerBase64, inclusion))).toEqual({
      type: "algorand-authorisation/1",
      alg: "falcon-1024",
      authorizer,
    });
  }, 60_000);

  test("passes the audit, and its ML-DSA-65 key is rotated", async () => {
    await deployment.stopService();
    const { findings } = await auditJournal(settings, operator());
    expect(findings).toEqual([]);
    const { ledger } = deployment.sandbox.algorand;
    const onWait = (round: number) => {
      while (ledger.round < round) ledger.advance();
    };
    const pq_seed = secret("22".repeat(32));
    const attestor = async (current: Table) => ({ ...current, pq_seed });
    const { history } = await rotateKey(settings, { attestor, onWait }, operator());
    expect(history.keys.map(({ algorandAddress }) => algorandAddress)).toEqual([
      deployment.sandbox.attestor.address,
      deployment.sandbox.attestor.address,
    ]);
    await deployment.restart({ attestor: { pq_seed } });
    await buy();
  }, 60_000);
});
