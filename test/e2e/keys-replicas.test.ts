import { type RunningService, startService } from "@attestd/service";
import { revokeKey, rotateKey } from "@attestd/service/operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newServiceSettings } from "../../packages/attestd/src/commands/sandbox/settings.ts";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { sql, startPostgres, type TestPostgres } from "../../packages/service/test/fakes/postgres.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";

let postgres: TestPostgres;
let deployment: Deployment;
let settings: Record<string, string | undefined>;
beforeAll(async () => {
  postgres = await startPostgres();
  const over = { DATABASE_URL: await postgres.database(), ATTESTOR_PQ_SEED: "11".repeat(32), LOG_LEVEL: "silent" };
  deployment = await startDeployment({ networks: [] }, over);
  const address = { host: "127.0.0.1", port: 0 };
  settings = { ...newServiceSettings(deployment.sandbox, sandboxFolder("."), address), ...over };
});
afterAll(async () => {
  await deployment?.close();
  await postgres?.close();
});

const NEXT = "22".repeat(32);

function rotate() {
  const { ledger } = deployment.sandbox.algorand;
  const onWait = (round: number) => {
    while (ledger.round < round) ledger.advance();
  };
  const changed = async () => ({ ATTESTOR_PQ_SEED: NEXT });
  return rotateKey(settings, { settings: changed, onWait }, { sandbox: true, signal: AbortSignal.timeout(60_000) });
}

test("sales stop while the database is away, and no payment is asked for anew; the same payment buys when it is back", async () => {
  const { sandbox, url } = deployment;
  const body = { txid: sandbox.sampleTransactions.algorand };
  const ready = async () => (await fetch(`${url}/ready`)).json();
  const payment = await sign(`${url}/attest`, body, algorandClient(sandbox));
  await postgres.stop();
  await expect.poll(ready, { timeout: 30_000 }).toMatchObject({
    status: "fail",
    reasons: expect.arrayContaining(["The journal does not answer."]),
  });
  const refused = await pay(`${url}/attest`, body, payment);
  expect(refused).toMatchObject({
    status: 503,
    json: { code: "payment_unknown", retry: { sameHeader: true } },
  });
  for (const path of [
    `bundles/${"A".repeat(43)}`,
    `bundles/${"A".repeat(43)}/evidence`,
    `stateproofs/${"0".repeat(64)}`,
  ]) {
    const answer = await fetch(`${url}/${path}`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "15"]);
    expect(await answer.json()).toMatchObject({ code: "journal_unavailable" });
  }
  await postgres.start();
  await expect.poll(ready, { timeout: 30_000 }).toEqual({ status: "pass", reasons: [] });
  expect((await pay(`${url}/attest`, body, payment)).status).toBe(200);
});

test("a rotation waits until no replica runs; a replica that was suspended during it stops selling, and states why", async () => {
  const { sandbox, url } = deployment;
  const body = { txid: sandbox.sampleTransactions.algorand };
  const buy = async (at: string) =>
    pay(`${at}/attest`, body, await sign(`${at}/attest`, body, algorandClient(sandbox)));
  const first = await buy(url);
  expect(first.status).toBe(200);
  await expect(rotate()).rejects.toMatchObject({
    name: "ServiceError",
    code: "journal_in_use",
    message: "1 other replica has this journal open.",
  });
  const late = await sign(`${url}/attest`, body, algorandClient(sandbox));

  // From now on every replica's heartbeat is old.
  const { DATABASE_URL = "" } = settings;
  await sql(
    DATABASE_URL,
    `CREATE FUNCTION asleep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.until := now() - interval '1 hour'; RETURN NEW; END $$;
     CREATE TRIGGER asleep BEFORE INSERT OR UPDATE ON replicas FOR EACH ROW EXECUTE FUNCTION asleep();
     UPDATE replicas SET until = until`,
  );
  const { history } = await rotate();
  const reason = expect.stringContaining(`the history's current key is ${history.keys[1]?.kid}`);
  // Resumed after the rotation.
  await expect.poll(async () => (await fetch(`${url}/ready`)).status, { timeout: 30_000 }).toBe(503);
  expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: "fail", reasons: [reason] });
  expect(await pay(`${url}/attest`, body, late)).toMatchObject({
    status: 503,
    json: { code: "attestor_key_unusable", detail: reason },
  });
  expect(await (await fetch(`${url}/.well-known/attestor-keys.json`)).json()).toEqual(history);
  expect(await post(`${url}/verify`, first.text)).toMatchObject({ json: { attestor: { status: "retired" } } });
  await sql(DATABASE_URL, "DROP TRIGGER asleep ON replicas");

  // Meanwhile a replica with the new seed sells, also for the same payment.
  const replica: RunningService = await startService({ ...settings, ATTESTOR_PQ_SEED: NEXT }, { sandbox: true });
  try {
    const second = await pay(`${replica.url}/attest`, body, late);
    expect(second.status).toBe(200);
    for (const at of [url, replica.url])
      expect(await post(`${at}/verify?chain=1`, second.text)).toMatchObject({
        json: { attestor: { status: "current" } },
      });
    // A replaced key is revoked while both run; both learn of it.
    const what = { kid: history.keys[0]?.kid ?? "", round: undefined, onWait: () => undefined };
    const renewed = { ...settings, ATTESTOR_PQ_SEED: NEXT };
    await revokeKey(renewed, what, { sandbox: true, signal: AbortSignal.timeout(60_000) });
    for (const at of [url, replica.url]) {
      const refused = async () => (await post(`${at}/verify`, first.text)).json.report;
      await expect.poll(refused, { timeout: 30_000 }).toMatchObject({ attestor: { status: "revoked" } });
      expect((await post(`${at}/verify?chain=1`, first.text)).status).toBe(200);
    }
  } finally {
    await replica.close();
  }
});
