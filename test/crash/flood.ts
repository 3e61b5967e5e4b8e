import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import { buy, LATE, PAUSE_MS, priceOf, send } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import { newDeployment } from "./deployment.ts";
import { endedPurchase, judge, rounds } from "./judge.ts";
import { inParallel } from "./matrix.ts";
import { payerOf, payOnAlgorand, RAILS, type RailName } from "./payers.ts";
import { requestFor } from "./subjects.ts";

export type Flood = {
  /** Authorizations, each valid by itself, that one account signs. */
  payments: number;
  /** Number of them that the account can pay. */
  backed: number;
  /** Number that is sent at a time. */
  atOnce: number;
  /** Purchases of other buyers at the same time, one after the other, on each rail in turn. */
  honest: number;
};

export type FloodOutcome = {
  flood: Flood;
  /** Count of each answer to the flood. */
  floodAnswers: Record<string, number>;
  /** Settlements requested from the facilitator, for the flood and for the other buyers. */
  settlements: number;
  /** Calls of the flood that were committed. */
  begun: number;
  /** All answers of each other buyer, and the time of the slowest purchase. */
  otherAnswers: string[][];
  longestSeconds: number;
  seconds: number;
  /** Faults that chains and journal show. */
  wrong: string[];
};

const PRICE = 1_000n;
const USDC = 31566704n;
/** microAlgos: an account's minimum balance, and that of one asset. */
const ALGO = 200_000n;
const PATIENCE_MS = 1_800_000;

/**
 * Sends a service many authorizations of one account that can pay for a few, while others buy. Each authorization is sent
 * once, whatever its answer.
 */
export async function runFlood(testBed: TestBed, flood: Flood): Promise<FloodOutcome> {
  const { sandbox, databases } = testBed;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  await using opened = new AsyncDisposableStack();
  const deployment = await newDeployment(sandbox, await databases.create("sqlite"));
  opened.defer(() => deployment.close());
  const service = await testBed.start(deployment.settings);
  opened.defer(() => service.kill());
  let settlements = 0;
  deployment.proxies.facilitator.add({ match: { path: /^\/settle$/ }, onBefore: () => void settlements++ });

  const request = await requestFor(sandbox, "transaction");
  const required = await priceOf(service.url, request, signal);
  const account = await poorAccount(sandbox, BigInt(flood.backed) * PRICE);
  const offer = required.accepts.find(({ network }) => network.startsWith("algorand:"));
  if (!offer) throw new Error("there is no offer on algorand");

  const started = performance.now();
  let longestSeconds = 0;
  const [flooded, bought] = await Promise.all([
    inParallel([...Array(flood.payments).keys()], flood.atOnce, async () => {
      const payment = await answered(() => payOnAlgorand(sandbox, offer, "long", account), signal);
      return { payment, ...(await judged(() => send(service.url, request, payment, signal), signal)) };
    }),
    inParallel([...Array(flood.honest).keys()], 1, async (n) => {
      const began = performance.now();
      const payment = await payerOf(sandbox)(RAILS[n % RAILS.length] as RailName, required);
      const purchase = await buy(() => service.url, request, payment, signal);
      longestSeconds = Math.max(longestSeconds, (performance.now() - began) / 1_000);
      return { payment, ...purchase };
    }),
  ]);
  const seconds = (performance.now() - started) / 1_000;
  const delivered = bought.filter(({ status }) => status === 200).length;
  const begun = service.committed.filter((name) => name === "call_begun").length - delivered;
  await rounds(sandbox, 2);
  await service.kill();
  const ended = [...flooded, ...bought].map(({ payment, ...purchase }) => endedPurchase(payment, purchase));
  const floodAnswers: Record<string, number> = {};
  for (const { answer } of flooded) floodAnswers[answer] = (floodAnswers[answer] ?? 0) + 1;
  const wrong = await judge(sandbox, deployment, ended);
  return {
    flood,
    floodAnswers,
    settlements,
    begun,
    otherAnswers: bought.map(({ answers }) => answers),
    longestSeconds,
    seconds,
    wrong,
  };
}

/** Sends until the answer is about the payment: an answer that a slow upstream caused is not about its balance. */
async function judged(sending: () => ReturnType<typeof send>, signal: AbortSignal): ReturnType<typeof send> {
  for (;;) {
    const answer = await answered(sending, signal);
    if (!LATE.includes(answer.answer)) return answer;
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** Repeats until there is an answer: the answer of a committed call must be counted. */
async function answered<T>(sending: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await sending();
    } catch {
      signal.throwIfAborted();
    }
  }
}

/** A new account on Algorand with so many micro-USDC. */
async function poorAccount({ algodUrl, algorand, payers }: Sandbox, microUsdc: bigint): Promise<algosdk.Account> {
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const suggestedParams = { ...(await algod.getTransactionParams().do()), flatFee: true, fee: 1_000n };
  const { address: dispenser, secretKey } = algorand.accounts.dispenser;
  const rich = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
  const poor = algosdk.generateAccount();
  const transfer = (sender: algosdk.Address, amount: bigint, fee: bigint) =>
    algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
      sender,
      receiver: poor.addr,
      amount,
      assetIndex: USDC,
      suggestedParams: { ...suggestedParams, fee },
    });
  const fund = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender: dispenser,
    receiver: poor.addr,
    amount: ALGO,
    suggestedParams: { ...suggestedParams, fee: 3_000n },
  });
  const group = [fund, transfer(poor.addr, 0n, 0n), transfer(rich.addr, microUsdc, 0n)];
  algosdk.assignGroupID(group);
  const keys = [secretKey, poor.sk, rich.sk];
  const signed = group.map((transaction, n) => transaction.signTxn(keys[n] as Uint8Array));
  const { txid } = await algod.sendRawTransaction(signed).do();
  await algosdk.waitForConfirmation(algod, txid, 10);
  return poor;
}
