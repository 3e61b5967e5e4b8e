import { type RunningService, startService } from "@attestd/service";
import { revokeKey, rotateKey } from "@attestd/service/operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sql, startPostgres, type TestPostgres } from "../../packages/service/test/fakes/postgres.ts";
import { type Settings, secret, type Table, withOver } from "../../packages/service/test/settings.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";

let postgres: TestPostgres;
let deployment: Deployment;
let settings: Settings;
let databaseUrl: string;
beforeAll(async () => {
  postgres = await startPostgres();
  databaseUrl = await postgres.database();
  const attestor = { pq_seed: secret("11".repeat(32)) };
  const over = { journal: { url: secret(databaseUrl) }, attestor, log_level: "silent" };
  deployment = await startDeployment({ networks: [] }, over);
  ({ settings } = deployment);
});
afterAll(async () => {
  await deployment?.close();
  await postgres?.close();
});

const NEXT = { attestor: { pq_seed: secret("22".repeat(32)) } };

function rotate() {
  const { ledger } = deployment.sandbox.algorand;
  const onWait = (round: number) => {
    while (ledger.round < round) ledger.advance();
  };
  const attestor = async (current: Table) => ({ ...current, ...NEXT.attestor });
  return rotateKey(settings, { attestor, onWait }, { sandbox: true, signal: AbortSignal.timeout(60_000) });
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
  await sql(
    databaseUrl,
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
  await sql(databaseUrl, "DROP TRIGGER asleep ON replicas");

  // Meanwhile a replica with the new seed sells, also for the same payment.
  const replica: RunningService = await startService(withOver(settings, NEXT), { sandbox: true });
  try {
    const second = await pay(`${replica.url}/attest`, body, late);
    expect(second.status).toBe(200);
    for (const at of [url, replica.url])
      expect(await post(`${at}/verify?chain=1`, second.text)).toMatchObject({
        json: { attestor: { status: "current" } },
      });
    // A replaced key is revoked while both run; both learn of it.
    const what = { kid: history.keys[0]?.kid ?? "", round: undefined, onWait: () => undefined };
    const renewed = withOver(settings, NEXT);
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
