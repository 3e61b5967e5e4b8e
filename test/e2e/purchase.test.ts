import { bundleId, type ProofBundle } from "@attestd/proof";
import { decodePaymentResponseHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { wrapFetchWithPayment } from "@x402/fetch";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { algorandClient, type Deployment, pay, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";

let deployment: Deployment;
const requests: string[] = [];
beforeAll(async () => {
  deployment = await startDeployment({
    networks: [],
    onRequest: ({ server, method, url }) => requests.push(`${server} ${method} ${url}`),
  });
});
afterAll(() => deployment.close());

const sample = () => ({ txid: deployment.sandbox.sampleTransactions.algorand });
const attestUrl = () => `${deployment.url}/attest`;

describe("a purchase on the Algorand rail", () => {
  test("with the stock x402 client gives a bundle for one payment and one attestation", async () => {
    const before = {
      payments: await outsider(deployment.sandbox).payments(),
      notes: await outsider(deployment.sandbox).attestations(),
    };
    const statuses: number[] = [];
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      // Not by its class: another test file in this process may have replaced it.
      const url = typeof input === "object" && "url" in input ? input.url : String(input);
      if (url.endsWith("/attest")) statuses.push(response.status);
      return response;
    };
    const buy = wrapFetchWithPayment(counting, algorandClient(deployment.sandbox));
    const response = await buy(attestUrl(), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sample()),
    });
    const text = await response.text();
    expect(statuses, text.slice(0, 1_000)).toEqual([402, 200]);
    const bundle = JSON.parse(text) as ProofBundle;
    expect(bundle).toMatchObject({
      version: 1,
      network: "algorand-mainnet",
      source: { chain: "algorand", txnId: sample().txid },
      attestor: { algorandAddress: deployment.sandbox.attestor.address },
      signature: { alg: "ML-DSA-65" },
    });

    const receipt = decodePaymentResponseHeader(response.headers.get("payment-response") as string);
    const payments = (await outsider(deployment.sandbox).payments()).slice(before.payments.length);
    const notes = (await outsider(deployment.sandbox).attestations()).slice(before.notes.length);
    expect(receipt).toMatchObject({
      success: true,
      transaction: payments[0]?.id,
      payer: deployment.sandbox.payers.algorand.address,
    });
    expect(payments).toEqual([{ id: receipt.transaction, amount: 1000n }]);
    expect(notes).toEqual([{ id: bundle.attest.txnId, amount: 0n, note: bundle.attest.note }]);

    const verified = await post(`${deployment.url}/verify?chain=1`, bundle);
    expect(verified).toMatchObject({ status: 200, json: { verified: true, warnings: ["sandbox"] } });
    const fetched = await fetch(`${deployment.url}/bundles/${bundleId(bundle)}`);
    expect(await fetched.json()).toEqual(bundle);
    expect((await fetch(`${deployment.url}/bundles/${"A".repeat(43)}`)).status).toBe(404);
  });
});

describe("the same payment sent again", () => {
  let payment: PaymentPayload;
  let first: string;
  beforeAll(async () => {
    payment = await sign(attestUrl(), sample(), algorandClient(deployment.sandbox));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => payUntilAnswered(attestUrl(), sample(), payment)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    first = answers[0]?.text ?? "";
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set([first]));
  });

  async function counts() {
    const seen = outsider(deployment.sandbox);
    return [(await seen.payments()).length, (await seen.attestations()).length];
  }

  test("twenty times at once gives twenty identical bundles, and nothing more on the ledger", async () => {
    const before = await counts();
    const again = await pay(attestUrl(), { chain: "algorand", ...sample() }, payment);
    expect(again).toMatchObject({ status: 200, text: first });
    expect(await counts()).toEqual(before);
  });

  test("for another transaction is rejected as bound", async () => {
    const other = { txid: JSON.parse(first).attest.txnId };
    expect(await pay(attestUrl(), other, payment)).toMatchObject({
      status: 409,
      json: { code: "payment_bound_to_other_request" },
    });
  });

  test("with a garbage signature reveals nothing and changes nothing for its owner", async () => {
    const forged = await forge(payment);
    for (const body of [sample(), { txid: JSON.parse(first).attest.txnId }]) {
      const refused = await pay(attestUrl(), body, forged);
      expect(refused).toMatchObject({ status: 402, json: { error: "the payer's signature does not fit the payment" } });
      expect(refused.headers.get("payment-required")).toBeTruthy();
    }
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: first });
  });

  test("after restarts, also with another price and payee, brings the same bytes", async () => {
    await deployment.restart();
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: first });
    const payee = deployment.sandbox.payers.algorand.address;
    await deployment.restart({
      prices: { call_micro_usdc: 2000 },
      rails: { algorand: { pay_to: payee } },
    });
    expect((await post(attestUrl(), sample())).json.accepts).toMatchObject([{ amount: "2000", payTo: payee }]);
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: first });
    await deployment.restart({
      prices: undefined,
      rails: { algorand: { pay_to: deployment.sandbox.payTo.algorand } },
    });
  });
});

test("a garbage signature over a new payment does not block its owner", async () => {
  const payment = await sign(attestUrl(), sample(), algorandClient(deployment.sandbox));
  expect(await pay(attestUrl(), sample(), await forge(payment))).toMatchObject({ status: 402 });
  expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200 });
});

test("a purchase with the payer's identifier is found again by another payment, which stays unspent", async () => {
  const name = { "payment-identifier": { info: { required: false, id: `order_${Date.now()}_0123456789` } } };
  const client = algorandClient(deployment.sandbox);
  const [first, second] = [await sign(attestUrl(), sample(), client), await sign(attestUrl(), sample(), client)];
  const bought = await pay(attestUrl(), sample(), { ...first, extensions: name });
  expect(bought.status).toBe(200);
  const spent = await outsider(deployment.sandbox).balance();
  expect(await pay(attestUrl(), sample(), { ...second, extensions: name })).toMatchObject({
    status: 200,
    text: bought.text,
  });
  const other = { txid: JSON.parse(bought.text).attest.txnId };
  expect(await pay(attestUrl(), other, { ...second, extensions: name })).toMatchObject({ status: 409 });
  expect(await outsider(deployment.sandbox).balance()).toBe(spent);
});

test("a request for a missing transaction is not charged", async () => {
  const before = await outsider(deployment.sandbox).balance();
  const unknown = { txid: `${"A".repeat(51)}Q` };
  const payment = await sign(attestUrl(), unknown, algorandClient(deployment.sandbox));
  expect(await pay(attestUrl(), unknown, payment)).toMatchObject({ status: 404, json: { code: "source_not_found" } });
  expect(await outsider(deployment.sandbox).balance()).toBe(before);
  expect(await pay(attestUrl(), sample(), payment), "the payment was left unspent").toMatchObject({ status: 200 });
});

test("a request without a payment asks no chain and no facilitator", async () => {
  requests.length = 0;
  const asked = await Promise.all([
    post(attestUrl(), sample()),
    post(attestUrl(), { txid: `${"A".repeat(51)}Q` }),
    post(attestUrl(), { txid: "short" }),
    fetch(attestUrl(), { method: "POST" }),
  ]);
  expect(asked.map(({ status }) => status)).toEqual([402, 402, 400, 402]);
  // The round watcher and the refresh of offers continue; nothing may ask for a transaction.
  expect(requests.filter((request) => /\/v2\/transactions|pending|\/(verify|settle)/.test(request))).toEqual([]);
});

/** The same payment with an invalid signature. */
async function forge(payment: PaymentPayload): Promise<PaymentPayload> {
  const { paymentGroup, paymentIndex } = payment.payload as { paymentGroup: string[]; paymentIndex: number };
  const signed = Buffer.from(paymentGroup[paymentIndex] as string, "base64");
  // A signed transaction begins with {"sig": <64 bytes>, …}: 1 + 4 + 2 bytes precede the signature.
  signed[7] = (signed[7] as number) ^ 1;
  const group = paymentGroup.with(paymentIndex, signed.toString("base64"));
  return { ...payment, payload: { ...payment.payload, paymentGroup: group } };
}

test("the payment header of a request is never logged or echoed", async () => {
  const payment = await sign(attestUrl(), sample(), algorandClient(deployment.sandbox));
  const header = encodePaymentSignatureHeader(payment);
  const answer = await pay(attestUrl(), { txid: "short" }, payment);
  expect(answer.status).toBe(400);
  expect(answer.text).not.toContain(header.slice(0, 40));
});
