import { ExactAvmScheme, toClientAvmSigner } from "@x402/avm";
import { x402Client } from "@x402/core/client";
import { HTTPFacilitatorClient } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import algosdk from "algosdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../sandbox.ts";

/* GoPlausible's own package (@x402-avm/avm 2.6.1) as a facilitator of the sandbox's ledger. */

const SHORT = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";

let sandbox: Sandbox;
let facilitator: HTTPFacilitatorClient;
let feePayer: string;
beforeAll(async () => {
  sandbox = await startSandbox({ roundMs: 0, networks: [], facilitators: ["goplausible"] });
  facilitator = new HTTPFacilitatorClient({ url: sandbox.facilitatorUrl });
  feePayer = String((await facilitator.getSupported()).kinds[0]?.extra?.feePayer);
});
afterAll(() => sandbox?.close());

/** A requirement under one of the network's names. Buyers get MainNet's short one. */
const requirement = (network = SHORT): PaymentRequirements => ({
  scheme: "exact",
  network: network as PaymentRequirements["network"],
  asset: "31566704",
  amount: "1000",
  payTo: sandbox.payTo.algorand,
  maxTimeoutSeconds: 60,
  extra: { feePayer },
});
const whole = () => `algorand:${sandbox.genesisHash}`;

/** Makes a stock client's payment under the short name. */
async function stockPayment(): Promise<PaymentPayload> {
  const { secretKey } = sandbox.algorand.accounts.payer;
  const signer = toClientAvmSigner(Buffer.from(secretKey).toString("base64"));
  const client = new x402Client().register("algorand:*", new ExactAvmScheme(signer, { algodUrl: sandbox.algodUrl }));
  const required = { x402Version: 2, resource: { url: "http://127.0.0.1/" }, accepts: [requirement()] };
  return client.createPaymentPayload(required as Parameters<typeof client.createPaymentPayload>[0]);
}

const under = (payment: PaymentPayload, network: string): PaymentPayload => ({
  ...payment,
  accepted: { ...payment.accepted, network: network as PaymentRequirements["network"] },
});

describe("GoPlausible's facilitator", () => {
  test("names Algorand by the whole genesis hash, of 44 characters, and no network by 32", async () => {
    const { kinds } = await facilitator.getSupported();
    const testNet = "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=";
    expect(kinds.map(({ network }) => network)).toEqual([whole(), testNet]);
    expect(whole()).toMatch(/^algorand:[A-Za-z0-9+/]{43}=$/);
  });

  test("refuses under CAIP-2's 32 characters what it takes under its own name, and settles it", async () => {
    const payment = await stockPayment();
    const refused = await facilitator.verify(payment, requirement());
    expect(refused).toMatchObject({
      isValid: false,
      invalidReason: "Transaction genesis hash does not match expected network",
    });
    const named = [under(payment, whole()), requirement(whole())] as const;
    expect(await facilitator.verify(...named)).toMatchObject({ isValid: true });
    const settled = await facilitator.settle(...named);
    expect(settled).toMatchObject({ success: true, network: whole() });
    const { ledger } = sandbox.algorand;
    // It does not wait for a round.
    expect(ledger.blocks.locate(settled.transaction)).toBeUndefined();
    ledger.advance();
    expect(ledger.blocks.locate(settled.transaction)).toBeDefined();
  });

  test.each<[string, string, (payment: PaymentPayload) => PaymentPayload | Promise<PaymentPayload>]>([
    [
      "another's unsigned transaction",
      "Unsigned transaction from non-facilitator address",
      (payment) =>
        grouped(payment, ([fee, own]) => [own as algosdk.Transaction, fee as algosdk.Transaction], [false, false]),
    ],
    [
      "a fee of more than 16,000 microAlgos",
      "Fee payer transaction fee exceeds maximum",
      (payment) =>
        grouped(payment, ([fee, own]) => [
          Object.assign(fee as algosdk.Transaction, { fee: 16_001n }),
          own as algosdk.Transaction,
        ]),
    ],
    [
      "transactions that are not of one group",
      "Transactions have inconsistent group IDs",
      ({ payload, ...payment }) => {
        const [fee = "", own = ""] = payload.paymentGroup as string[];
        const transaction = algosdk.decodeUnsignedTransaction(Buffer.from(fee, "base64"));
        delete transaction.group;
        const lone = Buffer.from(algosdk.encodeUnsignedTransaction(transaction)).toString("base64");
        return { ...payment, payload: { ...payload, paymentGroup: [lone, own] } };
      },
    ],
  ])("refuses %s", async (_, invalidReason, change) => {
    const payment = await change(await stockPayment());
    const answer = await facilitator.verify(under(payment, whole()), requirement(whole()));
    expect(answer).toMatchObject({ isValid: false, invalidReason: expect.stringContaining(invalidReason) });
  });
});

/** Changes a payment's transactions, groups them again, and has the payer sign if asked. */
function grouped(
  { payload, ...payment }: PaymentPayload,
  change: (transactions: algosdk.Transaction[]) => algosdk.Transaction[],
  signs: boolean[] = [false, true],
): PaymentPayload {
  const [fee = "", own = ""] = payload.paymentGroup as string[];
  const transactions = change([
    algosdk.decodeUnsignedTransaction(Buffer.from(fee, "base64")),
    algosdk.decodeSignedTransaction(Buffer.from(own, "base64")).txn,
  ]);
  for (const transaction of transactions) delete transaction.group;
  algosdk.assignGroupID(transactions);
  const { secretKey } = sandbox.algorand.accounts.payer;
  const paymentGroup = transactions.map((transaction, index) => {
    const bytes = signs[index] ? transaction.signTxn(secretKey) : algosdk.encodeUnsignedTransaction(transaction);
    return Buffer.from(bytes).toString("base64");
  });
  return { ...payment, payload: { ...payload, paymentGroup } };
}
