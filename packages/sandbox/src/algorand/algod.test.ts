import { AlgorandClient } from "@algorandfoundation/algokit-utils/algorand-client";
import { decodeMsgpackMap, encodeMsgpack, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import algosdk from "algosdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { vectors } from "../../../proof/test/vectors.ts";
import {
  askError,
  askJson,
  fund,
  pay,
  startTestNetwork,
  submit,
  type TestNetwork,
  transfer,
} from "../../test/algorand-network.ts";
import { makeAccount } from "../../test/make-account.ts";
import type { SandboxRequest } from "../http.ts";
import { type SandboxAccount, signTransaction } from "./account.ts";

let network: TestNetwork;
let payer: SandboxAccount;
const requests: SandboxRequest[] = [];

beforeAll(async () => {
  network = await startTestNetwork({ onRequest: (request) => requests.push(request) });
  payer = network.accounts.payer;
});

afterAll(() => network.close());

const get = async <T extends object>(path: string) => (await askJson<T>(network.algodUrl + path)).body;
const errorOf = (path: string) => askError(network.algodUrl + path);

describe("answers have the members of a real node's", () => {
  test.each([
    ["/v2/status", "status.json"],
    ["/v2/transactions/params", "params.json"],
    ["/versions", "versions.json"],
  ])("%s", async (path, file) => {
    const real = vectors.json(`algorand/testnet/${file}`);
    const shape = (value: object) => Object.entries(value).map(([name, member]) => [name, typeof member]);
    const ours = await get(path);
    expect(shape(ours)).toEqual(expect.arrayContaining(shape(real)));
    expect(Object.keys(ours)).toHaveLength(Object.keys(real).length);
  });
});

test("is healthy and ready", async () => {
  await network.algod.healthCheck().do();
  expect((await fetch(`${network.algodUrl}/ready`)).status).toBe(200);
});

test("a submission is visible before its answer arrives, and algosdk's waitForConfirmation confirms it", async () => {
  const payment = await pay(network, payer);
  await network.algod.sendRawTransaction(signTransaction(payer, payment)).do();
  const waiting = await network.algod.pendingTransactionInformation(payment.txID()).do();
  expect(waiting.confirmedRound).toBeUndefined();
  expect(waiting.poolError).toBe("");
  expect(waiting.txn.txn.txID()).toBe(payment.txID());
  expect((await network.algod.pendingTransactionsInformation().do()).totalTransactions).toBe(1);

  const confirmed = algosdk.waitForConfirmation(network.algod, payment.txID(), 5);
  const { round } = network.ledger.advance();
  // The client may already wait for this round, or may ask only now: one more round lets it look again.
  network.ledger.advance();
  expect((await confirmed).confirmedRound).toBe(BigInt(round));
  expect((await network.algod.pendingTransactionsInformation().do()).totalTransactions).toBe(0);
});

test("a transaction is returned for 1000 rounds after its own, in JSON and msgpack", async () => {
  const own = await startTestNetwork();
  try {
    const { txid, round } = own.sample;
    const path = `${own.algodUrl}/v2/transactions/pending/${txid}`;
    while (own.ledger.round < round + 1000) own.ledger.advance();
    expect(await (await fetch(path)).json()).toMatchObject({ "confirmed-round": round, "pool-error": "" });
    expect((await own.algod.pendingTransactionInformation(txid).do()).confirmedRound).toBe(BigInt(round));
    own.ledger.advance();
    const answer = await fetch(path);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { message: "could not find the transaction in the transaction pool or in the last 1000 confirmed rounds" },
    ]);
  } finally {
    await own.close();
  }
});

test("an invalid id and an unknown id are different errors", async () => {
  expect(await errorOf("/v2/transactions/pending/abc")).toBe("400 no valid transaction ID was specified");
  expect(await errorOf(`/v2/transactions/pending/${"A".repeat(52)}`)).toContain("404 could not find the transaction");
});

describe("wait-for-block-after", () => {
  test("answers once the next round exists, at once if it does already", async () => {
    const { round } = network.ledger;
    const waits = [0, 1].map(() => network.algod.statusAfterBlock(round).do());
    // Both requests have reached the ledger before the round comes.
    const arrived = () => requests.filter(({ url }) => url.endsWith(`wait-for-block-after/${round}`)).length;
    while (arrived() < 2) await new Promise(setImmediate);
    network.ledger.advance();
    for (const status of await Promise.all(waits)) expect(status.lastRound).toBe(BigInt(round + 1));
    expect((await network.algod.statusAfterBlock(0).do()).lastRound).toBe(BigInt(round + 1));
  });

  test("keeps waiting through earlier rounds", async () => {
    const { round } = network.ledger;
    const [soon, later] = [round, round + 1].map((after) => network.algod.statusAfterBlock(after).do());
    const waits = [round, round + 1].map((after) => `wait-for-block-after/${after}`);
    while (!waits.every((wait) => requests.some(({ url }) => url.endsWith(wait)))) await new Promise(setImmediate);
    network.ledger.advance();
    expect((await soon)?.lastRound).toBe(BigInt(round + 1));
    network.ledger.advance();
    expect((await later)?.lastRound).toBe(BigInt(round + 2));
  });

  test("ends when the server closes", async () => {
    const own = await startTestNetwork({ onRequest: ({ url }) => url.includes("wait") && void own.close() });
    await expect(own.algod.statusAfterBlock(own.ledger.round + 5).do()).rejects.toThrow();
  });
});

describe("simulate", () => {
  const simulate = async (request: MsgpackMap, format = "msgpack") => {
    const answer = await fetch(`${network.algodUrl}/v2/transactions/simulate?format=${format}`, {
      method: "POST",
      body: Buffer.from(encodeMsgpack(request)),
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { status: answer.status, bytes };
  };

  test("applies a group without changing the ledger", async () => {
    const { payTo } = network.accounts;
    const before = network.ledger.state.account(payTo.address).balance;
    const payment = await pay(network, payer, { receiver: payTo.address, amount: 9 });
    const result = await network.algod.simulateRawTransactions(signTransaction(payer, payment)).do();
    expect(result.version).toBe(2);
    expect(result.lastRound).toBe(BigInt(network.ledger.round));
    expect(result.txnGroups[0]?.failureMessage).toBeUndefined();
    expect(result.txnGroups[0]?.txnResults[0]?.txnResult.txn.txn.txID()).toBe(payment.txID());
    expect(network.ledger.advance().txids).toEqual([]);
    expect(network.ledger.state.account(payTo.address).balance).toBe(before);
    expect(await submit(network, signTransaction(payer, payment))).toBe(payment.txID());
  });

  test("returns a failure and the index of its member", async () => {
    const poor = makeAccount();
    await fund(network, poor.address, 200_000);
    const group = algosdk.assignGroupID([
      await pay(network, payer),
      await transfer(network, poor, { receiver: payer.address, amount: 1 }),
    ]);
    const signed = group.map((txn, index) => signTransaction(index === 0 ? payer : poor, txn));
    const [outcome] = (await network.algod.simulateRawTransactions(signed).do()).txnGroups;
    expect(outcome?.failureMessage).toBe(
      `transaction ${group[1]?.txID()}: asset 31566704 missing from ${poor.address}`,
    );
    expect(outcome?.failedAt).toEqual([1]);
  });

  test("fails for a confirmed transaction, and ignores the pool", async () => {
    const payment = await pay(network, payer);
    const signed = signTransaction(payer, payment);
    await submit(network, signed);
    const outcome = async () => (await network.algod.simulateRawTransactions(signed).do()).txnGroups[0];
    expect((await outcome())?.failureMessage).toBeUndefined();
    network.ledger.advance();
    expect((await outcome())?.failureMessage).toBe(`transaction already in ledger: ${payment.txID()}`);
  });

  test("accepts unsigned transactions only with allow-empty-signatures", async () => {
    const payment = await pay(network, payer);
    const unsigned = new algosdk.SignedTransaction({ txn: payment });
    const run = (options: { allowEmptySignatures?: boolean; fixSigners?: boolean }) =>
      network.algod
        .simulateTransactions(
          new algosdk.modelsv2.SimulateRequest({
            txnGroups: [new algosdk.modelsv2.SimulateRequestTransactionGroup({ txns: [unsigned] })],
            ...options,
          }),
        )
        .do();
    const [refused] = (await run({})).txnGroups;
    expect(refused?.failureMessage).toMatch(/^transaction \{.*\} invalid : signedtxn has no sig$/);
    expect(refused?.failedAt).toEqual([0]);
    const allowed = await run({ allowEmptySignatures: true });
    expect(allowed.txnGroups[0]?.failureMessage).toBeUndefined();
    expect(allowed.evalOverrides?.allowEmptySignatures).toBe(true);
    await expect(run({ fixSigners: true })).rejects.toThrow("FixSigners requires AllowEmptySignatures to be enabled");
  });

  test("finds the authorized signer of a rekeyed account with fix-signers", async () => {
    const rekeyed = makeAccount();
    await fund(network, rekeyed.address, 1_000_000);
    await submit(network, signTransaction(rekeyed, await pay(network, rekeyed, { rekeyTo: payer.address })));
    network.ledger.advance();
    const txn = algosdk.encodeUnsignedTransaction(await pay(network, rekeyed));
    const request = (fixSigners: boolean) =>
      new Map<string, MsgpackValue>([
        ["allow-empty-signatures", true],
        ["fix-signers", fixSigners],
        ["txn-groups", [new Map([["txns", [new Map([["txn", decodeMsgpackMap(txn)]])]]])]],
      ]);
    for (const fixSigners of [false, true]) {
      const { bytes } = await simulate(request(fixSigners));
      const [outcome] = decodeMsgpackMap(bytes).get("txn-groups") as MsgpackMap[];
      expect(outcome?.has("failure-message")).toBe(!fixSigners);
    }
  });

  test("fails when fees are too low", async () => {
    const signed = signTransaction(payer, await pay(network, payer, { fee: 0 }));
    const [outcome] = (await network.algod.simulateRawTransactions(signed).do()).txnGroups;
    expect(outcome?.failureMessage).toBe("txgroup with 0.0A fees is less than 1mA (usage=1.000000 * base=1mA)");
  });

  test("is refused with 400 when a signature is invalid or there is not exactly one group", async () => {
    const signed = signTransaction(payer, await pay(network, payer));
    const forged = decodeMsgpackMap(signed).set("sig", new Uint8Array(64).fill(1));
    await expect(network.algod.simulateRawTransactions(encodeMsgpack(forged)).do()).rejects.toThrow(
      "At least one signature didn't pass verification",
    );
    const groups = (...groups: MsgpackValue[]) => new Map<string, MsgpackValue>([["txn-groups", groups]]);
    const empty = new Map<string, MsgpackValue>([["txns", []]]);
    for (const [request, message] of [
      [groups(), "expected 1 transaction group, got 0"],
      [groups(empty), "empty txgroup"],
    ] as const) {
      const { status, bytes } = await simulate(request);
      expect([status, JSON.parse(Buffer.from(bytes).toString())]).toEqual([400, { message }]);
    }
  });

  test("accepts and returns JSON", async () => {
    const payment = await pay(network, payer, { lease: new Uint8Array(32).fill(9) });
    const envelope = decodeMsgpackMap(signTransaction(payer, payment));
    const request = new Map<string, MsgpackValue>([["txn-groups", [new Map([["txns", [envelope]]])]]]);
    const { bytes } = await simulate(request, "json");
    const answer = JSON.parse(Buffer.from(bytes).toString());
    const { txn } = answer["txn-groups"][0]["txn-results"][0]["txn-result"];
    expect(txn.txn).toMatchObject({ snd: payer.address, gen: network.genesisId, gh: network.genesisHash });
    // It accepts as JSON what it wrote as JSON, signature and all.
    const again = await fetch(`${network.algodUrl}/v2/transactions/simulate`, {
      method: "POST",
      body: JSON.stringify({ "txn-groups": [{ txns: [txn] }] }),
    });
    expect(await again.json()).toEqual(answer);
    const nonsense = await fetch(`${network.algodUrl}/v2/transactions/simulate`, { method: "POST", body: "?" });
    expect(nonsense.status).toBe(400);
  });
});

test("accounts and assets, through algosdk", async () => {
  const { dispenser, attestor } = network.accounts;
  const account = await network.algod.accountInformation(attestor.address).do();
  expect([account.minBalance, account.totalAssetsOptedIn, account.status]).toEqual([200_000n, 1, "Offline"]);
  expect(account.assets?.[0]).toMatchObject({ assetId: 31566704n, amount: 0n, isFrozen: false });
  const creator = await network.algod.accountInformation(dispenser.address).do();
  expect(creator.createdAssets?.[0]?.index).toBe(31566704n);
  const { params } = await network.algod.getAssetByID(31566704).do();
  expect(params).toMatchObject({ unitName: "USDC", name: "USDC", decimals: 6, total: 2n ** 64n - 1n });
  const { assetHolding } = await network.algod.accountAssetInformation(attestor.address, 31566704).do();
  expect(assetHolding?.amount).toBe(0n);
  expect(await errorOf(`/v2/accounts/${attestor.address}/assets/5`)).toBe("404 account asset info not found");
  expect(await errorOf("/v2/assets/5")).toBe("404 asset does not exist");
  expect(await errorOf("/v2/accounts/nobody")).toBe(
    "400 Invalid format for parameter address: error unmarshaling 'nobody' text as *basics.Address: failed to decode address nobody from base 32",
  );
  expect((await get<{ amount: number }>(`/v2/accounts/${makeAccount().address}`)).amount).toBe(0);
});

test("algokit, which @x402/avm uses, builds transactions valid for ten rounds, as on MainNet", async () => {
  const client = AlgorandClient.fromConfig({ algodConfig: { server: network.algodUrl, token: "" } });
  const { round } = network.ledger;
  const payment = await client.createTransaction.payment({
    sender: payer.address,
    receiver: payer.address,
    amount: { microAlgo: 0n } as never,
  });
  expect([payment.firstValid, payment.lastValid]).toEqual([BigInt(round), BigInt(round + 10)]);
});
