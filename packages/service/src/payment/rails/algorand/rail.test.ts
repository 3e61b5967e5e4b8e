import { once } from "node:events";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import algosdk from "algosdk";
import { beforeEach, describe, expect, test } from "vitest";
import { serviceError } from "../../../../test/errors.ts";
import type { Rounds } from "../../../ledger/ledger.ts";
import type { AlgorandPayment } from "./payment.ts";
import { algorandRail } from "./rail.ts";
import { ALGORAND } from "./usdc.ts";

const GENESIS = new Uint8Array(32).fill(7);
const payer = algosdk.generateAccount();
const feePayer = algosdk.generateAccount();
const stranger = algosdk.generateAccount();
const payTo = algosdk.generateAccount().addr.toString();

const requirement: PaymentRequirements = {
  scheme: "exact",
  network: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
  asset: ALGORAND.asset,
  amount: "1000",
  payTo,
  maxTimeoutSeconds: 120,
  extra: { feePayer: feePayer.addr.toString() },
};
const LATEST = 100;
let latest: number;
/** Rounds that our nodes reach one after the other, as soon as somebody waits. */
let coming: number[];
let isCurrent: boolean;
beforeEach(() => {
  latest = LATEST;
  coming = [];
  isCurrent = true;
});
const rail = algorandRail({
  genesisHash: Buffer.from(GENESIS).toString("base64"),
  rounds: {
    latest: () => latest,
    isCurrent: () => isCurrent,
    async next(signal) {
      if (coming.length === 0) await once(signal, "abort");
      signal.throwIfAborted();
      latest = coming.shift() ?? latest;
      return latest;
    },
  } satisfies Partial<Rounds> as Rounds,
  nodes: { algods: [], indexers: [], rules: { onConflict: () => undefined } },
  maxLifeSeconds: 3_600,
  maxFee: 3_000,
});

const params = (over: Partial<algosdk.SuggestedParams> = {}): algosdk.SuggestedParams => ({
  genesisHash: GENESIS,
  genesisID: "test",
  firstValid: LATEST,
  lastValid: LATEST + 10,
  fee: 0,
  minFee: 1000,
  flatFee: true,
  ...over,
});
type Transfer = Parameters<typeof algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject>[0];
const transfer = (over: Partial<Transfer> = {}) =>
  algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    sender: payer.addr,
    receiver: payTo,
    amount: 1000,
    assetIndex: BigInt(ALGORAND.asset),
    suggestedParams: params(),
    ...over,
  });
type Pay = Parameters<typeof algosdk.makePaymentTxnWithSuggestedParamsFromObject>[0];
const fee = (over: Partial<Pay> = {}) =>
  algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender: feePayer.addr,
    receiver: feePayer.addr,
    amount: 0,
    suggestedParams: params({ fee: 2000 }),
    ...over,
  });

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
function payload(paymentGroup: string[], paymentIndex: number, over: Partial<PaymentPayload> = {}): PaymentPayload {
  return { x402Version: 2, accepted: requirement, payload: { paymentGroup, paymentIndex }, ...over };
}
/** Makes a group as the stock client sends it: the fee payer's transaction unsigned, the payment signed. */
function group(payment = transfer(), other = fee(), key = payer.sk): PaymentPayload {
  algosdk.assignGroupID([other, payment]);
  return payload([base64(algosdk.encodeUnsignedTransaction(other)), base64(payment.signTxn(key))], 1);
}

const checked = async (made: PaymentPayload, against = requirement) => {
  try {
    const payment = rail.read(made);
    await rail.check(payment, against, AbortSignal.timeout(50));
    return payment;
  } catch (error) {
    expect(error).toEqual(serviceError("payment_refused"));
    return (error as Error).message;
  }
};

describe("an Algorand payment", () => {
  test("of the stock shape is read, keyed by its transaction, checked, and has a valid signature", async () => {
    const payment = transfer();
    const made = group(payment);
    const read = (await checked(made)) as AlgorandPayment;
    const ledger = `algorand:${Buffer.from(GENESIS).toString("base64url")}`;
    expect(read).toMatchObject({
      key: `${ledger}/${payment.txID()}`,
      aliases: [`${ledger}/group/${Buffer.from(payment.group as Uint8Array).toString("base64url")}`],
      payer: payer.addr.toString(),
      payTo,
      amount: 1000n,
      asset: ALGORAND.asset,
      window: { firstValid: 100, lastValid: 110 },
    });
    expect(await rail.signature(read)).toBe("on_chain");
  });

  /** MainNet's names in @x402/avm, interface documents and PyPI's x402-avm 2.0.2 (`mechanisms/avm/constants.py`). */
  test.each([
    "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
    "algorand-mainnet",
    "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=",
  ])("may name its network %s", (network) => {
    expect(rail.isNetwork(network)).toBe(true);
    expect(rail.isNetwork(`${network}A`)).toBe(false);
  });

  test("alone, its fee paid by the payer, is accepted too", async () => {
    const alone = transfer({ suggestedParams: params({ fee: 1000 }) });
    expect(await checked(payload([base64(alone.signTxn(payer.sk))], 0))).toMatchObject({ amount: 1000n });
  });

  test("may make the fee payer pay three minimum fees", async () => {
    const dear = fee({ suggestedParams: params({ fee: 3_000 }), note: new Uint8Array(128) });
    expect(await checked(group(transfer(), dear))).toMatchObject({ amount: 1000n });
  });

  test("of the thousand rounds that algosdk gives a transaction is accepted, 47 minutes before it expires", async () => {
    const { firstValid } = params();
    const long = params({ lastValid: Number(firstValid) + 1_000 });
    expect(
      await checked(group(transfer({ suggestedParams: long }), fee({ suggestedParams: { ...long, fee: 2_000 } }))),
    ).toMatchObject({
      window: { firstValid: 100, lastValid: 1_100 },
    });
  });

  const ahead = (rounds: number, life = 10) => {
    const suggestedParams = params({ firstValid: LATEST + rounds, lastValid: LATEST + rounds + life });
    return group(transfer({ suggestedParams }), fee({ suggestedParams: { ...suggestedParams, fee: 2_000 } }));
  };

  test.each([1, 10, 300])(
    "made at a node that is %i rounds ahead of ours is accepted once ours has come so far",
    async (rounds) => {
      isCurrent = false;
      coming = [LATEST + 1, LATEST + rounds];
      expect(await checked(ahead(rounds))).toMatchObject({ window: { firstValid: LATEST + rounds } });
    },
  );

  test.each([
    ["is away, made since", 11, 10],
    ["is away, of the thousand rounds that algosdk gives it", 400, 1_000],
    ["is away, made in the next round", 1, 10],
  ])(
    "while our node %s: the payment is not refused, because another must not be asked for",
    async (_, rounds, life) => {
      isCurrent = false;
      const payment = rail.read(ahead(rounds, life));
      await expect(rail.check(payment, requirement, AbortSignal.timeout(1))).rejects.toEqual(
        serviceError("providers_unavailable"),
      );
    },
  );

  test("of a later time is refused while our node has the newest rounds", async () => {
    expect(await checked(ahead(101))).toBe("the payment is not valid before round 201");
    const payment = rail.read(ahead(100));
    await expect(rail.check(payment, requirement, AbortSignal.timeout(1))).rejects.toEqual(
      serviceError("providers_unavailable"),
    );
  });

  test("signed by another key is invalid, unless sgnr names that key: then the chain decides", async () => {
    const payment = transfer();
    const signature = payment.rawSignTxn(stranger.sk);
    const signed = algosdk.decodeSignedTransaction(payment.signTxn(payer.sk));
    const bad = algosdk.encodeMsgpack(new algosdk.SignedTransaction({ txn: signed.txn, sig: signature }));
    expect(await rail.signature(rail.read(payload([base64(bad)], 0)))).toBe("invalid");
    const rekeyed = payment.signTxn(stranger.sk);
    expect(await rail.signature(rail.read(payload([base64(rekeyed)], 0)))).toBe("on_chain");
  });

  const close = { closeRemainderTo: stranger.addr.toString() };
  const rekey = { rekeyTo: stranger.addr.toString() };
  test.each<[string, PaymentPayload, string]>([
    ["another amount", group(transfer({ amount: 999 })), "moves 999, not 1000"],
    ["another asset", group(transfer({ assetIndex: 1n })), "moves asset 1, not"],
    ["another payee", group(transfer({ receiver: stranger.addr })), "goes to"],
    ["a close-to", group(transfer(close)), "has the field aclose"],
    ["a clawback", group(transfer({ assetSender: stranger.addr })), "has the field asnd"],
    ["a rekey", group(transfer(rekey)), "has the field rekey"],
    ["a fee payer that moves money", group(transfer(), fee({ amount: 1 })), "has the field amt"],
    ["a fee payer that closes", group(transfer(), fee(close)), "has the field close"],
    [
      "a fee payer that pays another",
      group(transfer(), fee({ receiver: stranger.addr })),
      "does not pay the fee payer itself",
    ],
    [
      "a fee payer that was not offered",
      group(transfer(), fee({ sender: stranger.addr, receiver: stranger.addr })),
      "not the offered one",
    ],
    [
      "a second transfer",
      group(transfer(), transfer({ note: new Uint8Array([1]) }) as never),
      "second transaction which is not the fee payer's",
    ],
    ["an expiry too near", group(transfer({ suggestedParams: params({ lastValid: 102 }) })), "expires in round 102"],
    [
      "an expiry passed",
      group(transfer({ suggestedParams: params({ firstValid: 50, lastValid: 60 }) })),
      "expires in round 60",
    ],
    [
      "a life too long",
      group(transfer({ suggestedParams: params({ lastValid: LATEST + 1_287 }) })),
      "stays valid for more than 3600 s",
    ],
    [
      "a fee payer that pays 9,900 microAlgos for it",
      group(transfer(), fee({ suggestedParams: params({ fee: 9_900 }) })),
      "the fee payer's fee is above 3000 microAlgos",
    ],
    [
      "a fee payer's fee of 2^64 - 1",
      group(transfer(), fee({ suggestedParams: params({ fee: 2n ** 64n - 1n }) })),
      "the fee payer's fee is above 3000 microAlgos",
    ],
    [
      "a lease of the fee payer",
      group(transfer(), fee({ lease: new Uint8Array(32).fill(1) })),
      "the fee payer's transaction has the field lx",
    ],
    [
      "a long note of the fee payer",
      group(transfer(), fee({ note: new Uint8Array(129) })),
      "has a note of more than 128 bytes",
    ],
    [
      "a later beginning",
      group(transfer({ suggestedParams: params({ firstValid: 201, lastValid: 211 }) })),
      "not valid before round 201",
    ],
    [
      "another ledger",
      group(transfer({ suggestedParams: params({ genesisHash: new Uint8Array(32).fill(8) }) })),
      "names another ledger",
    ],
    ["version 1", { ...group(), x402Version: 1 }, "x402Version is not 2"],
    ["no group", { ...group(), payload: { authorization: {} } }, "payload.paymentGroup is not a list"],
    ["an index outside", payload(group().payload.paymentGroup as string[], 2), "payload.paymentIndex is not an index"],
    ["the fee payer as the payment", payload(group().payload.paymentGroup as string[], 0), "not an asset transfer"],
    [
      "bytes that are no transaction",
      payload(["AAAA"], 0),
      "payload.paymentGroup[0] is not base64 of canonical msgpack",
    ],
  ])("with %s is refused with the reason", async (_, made, reason) => {
    expect(await checked(made)).toContain(reason);
  });

  test("of a group whose id is of other transactions is refused", async () => {
    const payment = transfer();
    algosdk.assignGroupID([fee({ note: new Uint8Array([1]) }), payment]);
    const other = fee();
    other.group = payment.group as Uint8Array;
    const made = payload([base64(algosdk.encodeUnsignedTransaction(other)), base64(payment.signTxn(payer.sk))], 1);
    expect(await checked(made)).toContain("the group id is not the id of");
  });
});
