import { readdirSync } from "node:fs";
import { join } from "node:path";
import { decodeMsgpackMap, type MsgpackMap } from "@attestd/proof/algorand";
import { utf8 } from "@attestd/proof/encoding";
import algosdk from "algosdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RECORDED, vectors } from "../../../proof/test/vectors.ts";
import {
  askError,
  fund,
  pay,
  startTestNetwork,
  submit,
  type TestNetwork,
  transfer,
} from "../../test/algorand-network.ts";
import { makeAccount } from "../../test/make-account.ts";
import { jsonText } from "../json.ts";
import { signTransaction } from "./account.ts";
import { blockJson, transactionJson } from "./indexer-json.ts";

let network: TestNetwork;

beforeAll(async () => {
  network = await startTestNetwork();
});

afterAll(() => network.close());

const errorOf = (path: string) => askError(network.indexerUrl + path);

/** Sends a payment by the payer and confirms it. */
async function confirmed(fields: Parameters<typeof pay>[2] = {}) {
  const { payer } = network.accounts;
  const payment = await pay(network, payer, fields);
  await submit(network, signTransaction(payer, payment));
  return { id: payment.txID(), round: network.ledger.advance().round };
}

describe("JSON has every member of the real indexer's", () => {
  // The vectors were made with a round, an offset and, for assets, an id that their bytes do not contain.
  const place = { round: 1, index: 2 };

  test.each(["payment", "asset_transfer", "asset_freeze", "keyreg", "rekey", "heartbeat", "multisig"])("%s", (name) => {
    const real = vectors.json(`algorand/indexer-txn/${name}.response`);
    const inBlock = decodeMsgpackMap(vectors.bytes(`algorand/indexer-txn/${name}.txn`));
    const txn = inBlock.get("txn") as MsgpackMap;
    const ours = transactionJson({ id: real.id, txn, inBlock, ...place, timestamp: real["round-time"] });
    expect(JSON.parse(jsonText(ours))).toEqual(real);
  });

  test("asset_config", () => {
    const real = vectors.json("algorand/indexer-txn/asset_config.response");
    const inBlock = decodeMsgpackMap(vectors.bytes("algorand/indexer-txn/asset_config.txn"));
    const found = { id: real.id, txn: inBlock.get("txn") as MsgpackMap, inBlock: inBlock.set("caid", 100) };
    const ours = transactionJson({ ...found, ...place, timestamp: real["round-time"] });
    expect(JSON.parse(jsonText(ours))).toEqual(real);
  });

  test("a block's header", () => {
    const real = vectors.json("algorand/sandnet/v2_indexer_lookupBlock_header.json");
    const bytes = Buffer.from(vectors.text("algorand/sandnet/v2_algod_GetBlock_header.base64"), "base64");
    const header = decodeMsgpackMap(bytes).get("block") as MsgpackMap;
    header.delete("txns");
    const ours = JSON.parse(jsonText(blockJson(header, [])));
    // The vector is older than this member.
    delete ours["participation-updates"];
    expect(ours).toEqual(real);
  });
});

describe("types that only recordings contain", () => {
  const names = readdirSync(join(RECORDED, "algorand/indexer-txn")).filter((name) => name.endsWith(".txn"));
  const types = /^(app_|resource_sharing|state_proof|txnaccess)/;

  test.each(names.filter((name) => types.test(name)))("%s", (file) => {
    const real = vectors.json(`algorand/indexer-txn/${file.replace(".txn", ".response")}`);
    const inBlock = decodeMsgpackMap(vectors.bytes(`algorand/indexer-txn/${file}`));
    const txn = inBlock.get("txn") as MsgpackMap;
    // The vectors were made with an id that their bytes do not contain.
    const created = real["created-application-index"];
    if (created !== undefined) inBlock.set("apid", created);
    const ours = transactionJson({ id: real.id, txn, inBlock, round: 1, index: 2, timestamp: real["round-time"] });
    expect(JSON.parse(jsonText(ours))).toEqual(real);
  });
});

test("health returns the round", async () => {
  const health = await network.indexer.makeHealthCheck().do();
  expect(health.round).toBe(BigInt(network.ledger.round));
  expect([health.dbAvailable, health.isMigrating]).toEqual([true, false]);
});

test("a transaction is found by its id as soon as it is confirmed", async () => {
  const { payer, payTo } = network.accounts;
  const lease = new Uint8Array(32).fill(3);
  const payment = await pay(network, payer, { receiver: payTo.address, amount: 77, note: "found", lease });
  await submit(network, signTransaction(payer, payment));
  expect(await errorOf(`/v2/transactions/${payment.txID()}`)).toBe(
    `404 no transaction found for transaction id: ${payment.txID()}`,
  );
  const { round } = network.ledger.advance();
  const { transaction, currentRound } = await network.indexer.lookupTransactionByID(payment.txID()).do();
  expect(currentRound).toBe(BigInt(round));
  expect(transaction).toMatchObject({
    id: payment.txID(),
    confirmedRound: BigInt(round),
    intraRoundOffset: 0,
    txType: "pay",
    sender: payer.address,
    genesisId: network.genesisId,
    note: utf8("found"),
    lease,
    paymentTransaction: { amount: 77n, receiver: payTo.address },
  });
  expect(transaction.signature?.sig).toHaveLength(64);
});

test("asset transactions state the amounts they moved and closed, and the asset they created", async () => {
  const { payer, payTo, dispenser } = network.accounts;
  const guest = makeAccount();
  await fund(network, guest.address, 1_000_000);
  for (const [from, txn] of [
    [guest, await transfer(network, guest, {})],
    [payer, await transfer(network, payer, { receiver: guest.address, amount: 12 })],
    [guest, await transfer(network, guest, { receiver: payTo.address, amount: 2, closeRemainderTo: payer.address })],
  ] as const)
    await submit(network, signTransaction(from, txn));
  const { round } = network.ledger.advance();
  const { transactions } = await network.indexer.searchForTransactions().assetID(31566704).round(round).do();
  expect(transactions.map(({ assetTransferTransaction: moved }) => [moved?.amount, moved?.closeAmount])).toEqual([
    [0n, 0n],
    [12n, 0n],
    [2n, 10n],
  ]);
  const [creation] = (await network.indexer.searchForTransactions().txType("acfg").do()).transactions;
  expect(creation?.createdAssetIndex).toBe(31566704n);
  expect(creation?.assetConfigTransaction?.params).toMatchObject({ creator: dispenser.address, unitName: "USDC" });
  expect((await network.indexer.lookupAssetByID(31566704).do()).asset.params.decimals).toBe(6);
});

describe("a search", () => {
  const ids = (answer: { transactions: { id?: string }[] }) => answer.transactions.map(({ id }) => id);

  test("by id returns the current round even without a result", async () => {
    const { txid } = network.sample;
    const search = (id: string) => network.indexer.searchForTransactions().txid(id).do();
    expect(ids(await search(txid))).toEqual([txid]);
    const none = await search("A".repeat(52));
    expect([none.transactions, none.currentRound]).toEqual([[], BigInt(network.ledger.round)]);
    expect(await errorOf("/v2/transactions?txid=abc")).toContain("400 unable to parse base32 digest data 'txid'");
  });

  test("by the prefix of a note", async () => {
    const prefix = `prefix ${network.ledger.round} `;
    const first = await confirmed({ note: `${prefix}1` });
    const second = await confirmed({ note: `${prefix}2` });
    await confirmed({ note: prefix.slice(0, -1) });
    const found = await network.indexer.searchForTransactions().notePrefix(utf8(prefix)).do();
    expect(ids(found)).toEqual([first.id, second.id]);
  });

  test("by rounds, both inclusive", async () => {
    const made = [await confirmed(), await confirmed(), await confirmed()];
    const [first, second, third] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]];
    const between = network.indexer.searchForTransactions().minRound(first.round).maxRound(second.round);
    expect(ids(await between.do())).toEqual([first.id, second.id]);
    expect(ids(await network.indexer.searchForTransactions().round(third.round).do())).toEqual([third.id]);
    expect(await errorOf("/v2/transactions?min-round=5&max-round=4")).toBe("400 min-round must be less than max-round");
    expect(await errorOf("/v2/transactions?round=5&max-round=6")).toContain("400 cannot specify round and min-round");
  });

  test("of an account returns the newest first, filtered by role", async () => {
    const { payer, attestor } = network.accounts;
    const from = await confirmed({ receiver: attestor.address, amount: 1 });
    const own = await confirmed();
    const of = (address: string) => network.indexer.searchForTransactions().address(address);
    expect(ids(await of(payer.address).limit(2).do())).toEqual([own.id, from.id]);
    expect(ids(await network.indexer.lookupAccountTransactions(payer.address).limit(1).do())).toEqual([own.id]);
    expect(ids(await of(attestor.address).addressRole("receiver").limit(1).do())).toEqual([from.id]);
    expect(ids(await of(attestor.address).addressRole("freeze-target").do())).toEqual([]);
    expect(await errorOf("/v2/transactions?address=nobody")).toContain("400 unable to parse address");
  });

  test.each([false, true])("returns pages without gaps or repetitions (by account: %s)", async (byAccount) => {
    const { payer } = network.accounts;
    for (let block = 0; block < 3; block++) {
      for (let index = 0; index < 3; index++) await submit(network, signTransaction(payer, await pay(network, payer)));
      network.ledger.advance();
    }
    const search = () => {
      const all = network.indexer.searchForTransactions();
      return byAccount ? all.address(payer.address) : all;
    };
    const whole = ids(await search().do());
    const paged: (string | undefined)[] = [];
    for (let next: string | undefined = ""; next !== undefined; ) {
      const page: algosdk.indexerModels.TransactionsResponse = await (next === ""
        ? search().limit(4)
        : search().limit(4).nextToken(next)
      ).do();
      paged.push(...ids(page));
      next = page.nextToken;
    }
    expect(whole.length).toBeGreaterThan(9);
    expect(paged).toEqual(whole);
  });

  test("by group, signature and rekeying", async () => {
    const { payer } = network.accounts;
    const group = algosdk.assignGroupID([await pay(network, payer), await pay(network, payer)]);
    await submit(network, ...group.map((txn) => signTransaction(payer, txn)));
    const own = makeAccount();
    await fund(network, own.address, 1_000_000);
    const rekey = await pay(network, own, { rekeyTo: payer.address });
    await submit(network, signTransaction(own, rekey));
    network.ledger.advance();
    const search = () => network.indexer.searchForTransactions();
    expect(ids(await search().rekeyTo(true).do())).toEqual([rekey.txID()]);
    expect(ids(await search().sigType("msig").do())).toEqual([]);
    const id = group[0]?.group ?? new Uint8Array();
    expect(ids(await search().groupid(Buffer.from(id).toString("base64")).do())).toEqual(
      group.map((txn) => txn.txID()),
    );
  });

  test("refuses parameters that it cannot apply", async () => {
    expect(await errorOf("/v2/transactions?before-time=2020-01-01")).toBe(
      "400 Unknown parameter detected: before-time",
    );
    expect(await errorOf("/v2/transactions?note-prefix=*")).toBe("400 unable to parse base64 data: 'note-prefix'");
    expect(await errorOf("/v2/transactions?next=x")).toBe("400 unable to parse next token");
    expect(await errorOf("/v2/transactions?address=&address-role=owner")).toContain("400 ");
  });
});

test("blocks, with and without their transactions", async () => {
  const { id, round } = await confirmed();
  const whole = await network.indexer.lookupBlock(round).do();
  expect(whole.transactions?.map((transaction) => transaction.id)).toEqual([id]);
  expect([whole.genesisId, whole.round]).toEqual([network.genesisId, BigInt(round)]);
  const bare = await network.indexer.lookupBlock(round).headerOnly(true).do();
  expect(bare.transactions).toEqual([]);
  const { block } = await network.algod.block(round).do();
  expect(bare.previousBlockHash).toEqual(block.header.branch);
  expect(bare.transactionsRootSha256).toEqual(block.header.txnCommitments.sha256Commitment);
  expect(await errorOf(`/v2/blocks/${network.ledger.round + 1}`)).toBe(
    `404 error while looking up block for round '${network.ledger.round + 1}': block not found`,
  );
});

test("accounts", async () => {
  const { attestor } = network.accounts;
  const { account, currentRound } = await network.indexer.lookupAccountByID(attestor.address).do();
  expect([account.totalAssetsOptedIn, account.minBalance, currentRound]).toEqual([
    1,
    200_000,
    BigInt(network.ledger.round),
  ]);
  const stranger = makeAccount().address;
  expect(await errorOf(`/v2/accounts/${stranger}`)).toBe(`404 no accounts found for address: ${stranger}`);
  expect(await errorOf("/v2/accounts/nobody")).toContain("400 unable to parse address");
  expect(await errorOf("/v2/assets/5")).toBe("404 no assets found for asset-id: 5");
});
