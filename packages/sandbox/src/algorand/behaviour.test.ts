import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { askError, askJson, pay, startTestNetwork, submit, type TestNetwork } from "../../test/algorand-network.ts";
import { signTransaction } from "./account.ts";
import type { Behaviour } from "./behaviour.ts";

// Texts and statuses are those of go-algorand 5.0.0 and indexer 3.9.0.

let network: TestNetwork;

beforeEach(async () => {
  network = await startTestNetwork();
});

afterEach(() => network.close());

const behave = (changes: Partial<Behaviour>) => Object.assign(network.behaviour, changes);
const ask = async (path: string) => (await askJson<Record<string, unknown>>(network.algodUrl + path)).body;
const errorOf = (path: string) => askError(network.algodUrl + path);
const signedPayment = async (fields: Parameters<typeof pay>[2] = {}) =>
  signTransaction(network.accounts.payer, await pay(network, network.accounts.payer, fields));

const POOL = "/v2/transactions/pending";
const REMEMBER = "400 TransactionPool.Remember: ";

describe("a node that", () => {
  test("is behind has neither the latest rounds nor their transactions, and the network does", async () => {
    const { txid, round } = network.sample;
    behave({ behind: 1 });
    expect(await ask("/v2/status")).toMatchObject({ "last-round": round - 1, "next-version-round": round });
    expect(await ask("/v2/transactions/params")).toMatchObject({ "last-round": round - 1 });
    expect(await errorOf(`/v2/blocks/${round}`)).toBe("404 failed to retrieve information from the ledger");
    expect(await ask(`${POOL}/${txid}`)).not.toHaveProperty("confirmed-round");
    expect(await (await fetch(`${network.networkUrl}${POOL}/${txid}`)).json()).toHaveProperty("confirmed-round", round);

    const early = await signedPayment({ firstValid: round + 1, lastValid: round + 9 });
    expect(await submit(network, early)).toBe(
      `${REMEMBER}txn dead: round ${round} outside of ${round + 1}--${round + 9}`,
    );
    const waited = ask(`/v2/status/wait-for-block-after/${round - 1}`);
    network.ledger.advance();
    expect(await waited).toMatchObject({ "last-round": round });
  });

  test("keeps few rounds has lost the others", async () => {
    const { round } = network.sample;
    behave({ keptRounds: 1 });
    expect(await ask(`/v2/blocks/${round}/hash`)).toHaveProperty("blockHash");
    expect(await errorOf(`/v2/blocks/${round - 1}/hash`)).toBe("404 failed to retrieve information from the ledger");
  });

  test("fetches blocks is not ready, and answers", async () => {
    behave({ catchup: "blocks" });
    expect((await fetch(`${network.algodUrl}/ready`)).status).toBe(503);
    expect((await ask("/v2/status"))["catchup-time"]).toBeGreaterThan(0);
    expect(await ask("/v2/transactions/params")).toHaveProperty("last-round");
  });

  test("restores a catchpoint answers nothing of transactions", async () => {
    const payment = await signedPayment();
    behave({ catchup: "catchpoint" });
    expect((await fetch(`${network.algodUrl}/ready`)).status).toBe(503);
    expect((await ask("/v2/status")).catchpoint).not.toBe("");
    const unavailable = "503 operation not available during catchup";
    for (const path of ["/v2/transactions/params", POOL, `${POOL}/abc`, "/v2/status/wait-for-block-after/0"])
      expect(await errorOf(path)).toBe(unavailable);
    expect(await submit(network, payment)).toBe(unavailable);
  });

  test("follows submits nothing and finds nothing by id", async () => {
    const payment = await signedPayment();
    expect(await errorOf("/v2/ledger/sync")).toBe("404 Not Found");
    behave({ follower: true, feePerByte: 5 });
    expect(await ask("/v2/ledger/sync")).toEqual({ round: network.ledger.round });
    expect(await submit(network, payment)).toBe("400 cannot broadcast txns in follower mode");
    expect(await errorOf(`${POOL}/${network.sample.txid}`)).toContain("404 could not find the transaction");
    expect(await ask("/v2/transactions/params")).toMatchObject({ fee: 0 });
  });

  test("is congested asks every member of a group for a fee by its bytes", async () => {
    behave({ feePerByte: 10 });
    expect(await ask("/v2/transactions/params")).toMatchObject({ fee: 10, "min-fee": 1000 });
    const cheap = await signedPayment({ fee: 1000 });
    const least = 10 * cheap.length;
    expect(await submit(network, cheap)).toBe(
      `${REMEMBER}fee {1000} below threshold ${least} (10 per byte * ${cheap.length} bytes)`,
    );
    expect(await submit(network, await signedPayment({ fee: 10_000 }))).toHaveLength(52);
  });

  test.each([
    ["pool-full", "400 TransactionPool.checkPendingQueueSize: transaction pool has reached capacity"],
    ["no-evaluator", `${REMEMBER}TransactionPool.ingest: no pending block evaluator`],
    ["shutdown", `${REMEMBER}transaction pool is shutting down`],
  ] as const)("answers %s has not taken the transaction", async (submission, message) => {
    const payment = await signedPayment();
    behave({ submit: submission });
    expect(await submit(network, payment)).toBe(message);
    expect(network.ledger.pool()).toHaveLength(0);
  });

  test("cannot broadcast has the transaction in its pool all the same", async () => {
    const payment = await signedPayment();
    behave({ submit: "queue-full" });
    expect(await submit(network, payment)).toBe("400 broadcast queue full");
    expect(network.ledger.pool()).toHaveLength(1);
    expect(await submit(network, payment)).toMatch(/already in ledger/);
  });

  test("shuts down ends waits", async () => {
    behave({ submit: "shutdown" });
    expect(await errorOf("/v2/status/wait-for-block-after/0")).toBe("500 operation aborted as server is shutting down");
  });

  test("is away is answered for by a proxy", async () => {
    behave({ algodAway: true, indexerAway: true });
    for (const url of [network.algodUrl, network.indexerUrl]) expect((await fetch(`${url}/health`)).status).toBe(502);
    behave({ algodAway: false, indexerAway: false });
    for (const url of [network.algodUrl, network.indexerUrl]) expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});

describe("an indexer that", () => {
  const search = (query: string) => askJson<{ transactions: unknown[] }>(`${network.indexerUrl}/v2/${query}`);

  test("is behind has not seen the latest rounds", async () => {
    const { txid, round } = network.sample;
    behave({ indexerBehind: 1 });
    const { body } = await askJson(`${network.indexerUrl}/health`);
    expect(body).toMatchObject({ round: round - 1, message: String(round - 1) });
    expect((await search(`transactions?txid=${txid}`)).body).toMatchObject({
      "current-round": round - 1,
      transactions: [],
    });
    expect(await askError(`${network.indexerUrl}/v2/transactions/${txid}`)).toContain("404 no transaction found");
    expect(await askError(`${network.indexerUrl}/v2/blocks/${round}`)).toContain("404 ");
  });

  // From the list of `algorand-indexer api-config`.
  test.each([
    ["note-prefix", "AA=="],
    ["tx-type", "pay"],
    ["sig-type", "sig"],
    ["asset-id", "31566704"],
    ["before-time", "2026-01-01T00:00:00Z"],
    ["rekey-to", "true"],
  ])("has default settings refuses %s in both searches", async (name, value) => {
    behave({ indexerParameters: "default" });
    const { address } = network.accounts.payer;
    for (const path of ["transactions", `accounts/${address}/transactions`])
      expect(await askError(`${network.indexerUrl}/v2/${path}?${name}=${encodeURIComponent(value)}`)).toBe(
        `400 provided disabled parameter: ${name}`,
      );
  });

  test("has default settings takes the role of an address only with the address in the path", async () => {
    behave({ indexerParameters: "default" });
    const { address } = network.accounts.payer;
    const role = `transactions?address=${address}&address-role=sender`;
    expect(await askError(`${network.indexerUrl}/v2/${role}`)).toBe("400 provided disabled parameter: address-role");
    expect((await search(`accounts/${address}/transactions?limit=5`)).status).toBe(200);
    expect((await search(`transactions?address=${address}&min-round=1`)).body.transactions).not.toHaveLength(0);
  });
});

describe("a behaviour", () => {
  const change = (body: string) =>
    askJson<Record<string, unknown>>(`${network.algodUrl}/sandbox/behaviour`, { method: "PATCH", body });

  test("is changed and shown over HTTP, also while the node is away", async () => {
    expect(await change('{"algodAway":true,"behind":2}')).toMatchObject({ status: 200, body: { behind: 2 } });
    expect(await ask("/sandbox/behaviour")).toEqual(network.behaviour);
    expect(network.behaviour).toMatchObject({ algodAway: true, behind: 2, follower: false });
  });

  test.each([
    '{"behnd":1}',
    '{"behind":-1}',
    '{"behind":"1"}',
    '{"follower":1}',
    '{"submit":"no"}',
    "[]",
    "null",
    "{",
    "",
  ])("that does not exist is refused: %s", async (body) => {
    const before = { ...network.behaviour };
    expect(await change(body)).toMatchObject({ status: 400 });
    expect(network.behaviour).toEqual(before);
  });
});
