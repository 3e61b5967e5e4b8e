import type { ProofBundle } from "@attestd/proof";
import {
  address,
  appendTransactionMessageInstruction,
  compileTransaction,
  createKeyPairSignerFromBytes,
  decompileTransactionMessage,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  partiallySignTransaction,
} from "@solana/kit";
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { wrapFetchWithPayment } from "@x402/fetch";
import algosdk from "algosdk";
import { createWalletClient, defineChain, type Hex, http, publicActions, recoverTypedDataAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { facilitatorsAt } from "../../packages/service/test/settings.ts";
import { AUTHORIZATION_TYPES } from "../helpers/eip3009.ts";
import { type Answer, type Deployment, pay, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";
import { BASE_USDC, type Rail, type RailName, railsOf, USDC_ABI } from "./rails.ts";

const MISFIT = "the payer's signature does not fit the payment";
const NAMES: RailName[] = ["base", "algorand", "solana"];

let deployment: Deployment;
let rails: Record<RailName, Rail>;
const asked: string[] = [];
beforeAll(async () => {
  // A stock Algorand payment lives for ten rounds. Rounds of a second make that enough for eight payments at once.
  deployment = await startDeployment({ roundMs: 1000, onRequest: ({ server, url }) => asked.push(`${server} ${url}`) });
  rails = await railsOf(deployment.sandbox);
});
afterAll(() => deployment.close());

const attestUrl = () => `${deployment.url}/attest`;
const sample = () => ({ txid: deployment.sandbox.sampleTransactions.base as string });
const algorandSample = () => ({ txid: deployment.sandbox.sampleTransactions.algorand });
const settlements = () => asked.filter((request) => request === "facilitator /settle").length;
const facilitated = () => asked.filter((request) => request.startsWith("facilitator")).length;
const notes = async () => new Set((await outsider(deployment.sandbox).attestations()).map(({ note }) => note));

/** The payments received on each rail. */
const received = () => Promise.all(NAMES.map((name) => rails[name].received()));

/** A payment for the Base sample, signed by a stock client and not sent yet. */
const signed = (rail: Rail, body: object = sample()) => sign(attestUrl(), body, rail.client);

/** Appends an assertion of Lighthouse to a stock payment on Solana, and signs it anew, as Phantom and Solflare do. */
async function guarded(payment: PaymentPayload): Promise<PaymentPayload> {
  const { transaction } = payment.payload as { transaction: string };
  const decoded = getTransactionDecoder().decode(Buffer.from(transaction, "base64"));
  const message = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(decoded.messageBytes));
  const programAddress = address("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
  // AssertSysvarClock: slot < 2130706432.
  const assertion = { programAddress, data: Buffer.from("0f00000000007f0000000003", "hex") };
  const secretKey = deployment.sandbox.payers.solana?.secretKeyBase64 as string;
  const { keyPair } = await createKeyPairSignerFromBytes(Buffer.from(secretKey, "base64"));
  const compiled = compileTransaction(appendTransactionMessageInstruction(assertion, message) as never);
  const signed = await partiallySignTransaction([keyPair], compiled);
  return { ...payment, payload: { transaction: getBase64EncodedWireTransaction(signed) } };
}

test("a payment on Solana to which its wallet appended an assertion of Lighthouse buys a bundle", async () => {
  const before = await rails.solana.received();
  const payment = await guarded(await signed(rails.solana));
  const bought = await payUntilAnswered(attestUrl(), sample(), payment);
  expect(bought).toMatchObject({ status: 200, json: { version: 1 } });
  expect((await rails.solana.received()) - before).toBe(1_000n);
  expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: bought.text });
});

describe("a Base transaction", () => {
  test("is offered for Base, Algorand and Solana USDC, in this order; an Algorand one only for Algorand USDC", async () => {
    const networks = async (body: object) => {
      const { json } = await post(attestUrl(), body);
      return (json.accepts as PaymentRequirements[]).map(({ network }) => network);
    };
    expect(await networks(sample())).toEqual(NAMES.map((name) => rails[name].network));
    expect(await networks(algorandSample())).toEqual([rails.algorand.network]);
  });

  test("is attested for a stock client's payment on each of them", async () => {
    const before = { received: await received(), notes: await notes() };
    const buying = NAMES.map(async (name) => {
      const buy = wrapFetchWithPayment(fetch, rails[name].client);
      const body = JSON.stringify(sample());
      const response = await buy(attestUrl(), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      const bundle = (await response.json()) as ProofBundle;
      expect(bundle).toMatchObject({ version: 1, source: { chain: "base", txnId: sample().txid } });
      const { network, payer } = rails[name];
      const receipt = decodePaymentResponseHeader(response.headers.get("payment-response") as string);
      expect(receipt).toMatchObject({ success: true, network, payer, amount: "1000" });
      return bundle;
    });
    const bundles = await Promise.all(buying);
    expect(await received()).toEqual(before.received.map((sum) => sum + 1_000n));
    expect((await notes()).difference(before.notes)).toEqual(new Set(bundles.map(({ attest }) => attest.note)));
    for (const bundle of bundles)
      expect(await post(`${deployment.url}/verify?chain=1`, bundle)).toMatchObject({
        status: 200,
        json: { verified: true },
      });
  });
});

describe("an offer that is accepted verbatim", () => {
  test.each(NAMES)("buys on %s with any resource and extensions from the client", async (name) => {
    const body = name === "algorand" ? algorandSample() : sample();
    const { json } = await post(attestUrl(), body);
    const option = (json.options as { network: string }[]).find(({ network }) =>
      name === "algorand" ? network === "algorand-mainnet" : network === rails[name].network,
    );
    const payment = await signed(rails[name], body);
    const literal = {
      ...payment,
      accepted: option as unknown as PaymentRequirements,
      resource: { url: "javascript:0", description: "x".repeat(5_000), mimeType: "text/html" },
      extensions: { bazaar: { info: null, schema: "no schema" }, eip2612GasSponsoring: {}, strange: "x".repeat(500) },
    };
    const before = await rails[name].received();
    const bought = await pay(attestUrl(), body, literal as PaymentPayload);
    expect(bought).toMatchObject({ status: 200, json: { version: 1 } });
    expect((await rails[name].received()) - before).toBe(1_000n);
    // The payment binds, not the payload around it.
    expect(await pay(attestUrl(), body, payment)).toMatchObject({ status: 200, text: bought.text });
  });
});

describe("payments on all three rails", () => {
  const attestNote = ({ text }: Answer) => (JSON.parse(text) as ProofBundle).attest.note;
  test.each(NAMES)(
    "that are eight on %s, at once, give eight settlements, eight bundles and eight notes",
    async (name) => {
      const before = { received: await rails[name].received(), notes: await notes() };
      const { headers } = await post(attestUrl(), sample());
      const required = decodePaymentRequiredHeader(headers.get("payment-required") as string);
      const payments: PaymentPayload[] = [];
      while (payments.length < 8) payments.push(await rails[name].client.createPaymentPayload(required));
      expect(new Set(payments.map(({ payload }) => JSON.stringify(payload))).size).toBe(8);
      const answers = await Promise.all(payments.map((payment) => payUntilAnswered(attestUrl(), sample(), payment)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect((await rails[name].received()) - before.received).toBe(8_000n);
      expect((await notes()).difference(before.notes)).toEqual(new Set(answers.map(attestNote)));
      expect(new Set(answers.map(attestNote)).size).toBe(8);
    },
  );

  test("sent eight times at once give one bundle each, and the same bytes after a restart", async () => {
    const before = { received: await received(), notes: await notes() };
    const payments = await Promise.all(NAMES.map((name) => signed(rails[name])));
    const sendings = payments.flatMap((payment) => Array.from({ length: 8 }, () => payment));
    const answers = await Promise.all(sendings.map((payment) => payUntilAnswered(attestUrl(), sample(), payment)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const bundles = new Set(answers.map(({ text }) => text));
    expect(bundles.size).toBe(3);
    expect(await received()).toEqual(before.received.map((sum) => sum + 1_000n));
    expect((await notes()).difference(before.notes)).toEqual(new Set(answers.map(attestNote)));

    await deployment.restart();
    const again = await Promise.all(payments.map((payment) => pay(attestUrl(), sample(), payment)));
    expect(new Set(again.map(({ text }) => text))).toEqual(bundles);
    for (const payment of payments)
      expect(await pay(attestUrl(), algorandSample(), payment)).toMatchObject({ status: 409 });
    expect(await received()).toEqual(before.received.map((sum) => sum + 1_000n));
  });
});

describe.each<[RailName, (payload: PaymentPayload["payload"]) => PaymentPayload["payload"]]>([
  ["base", (payload) => ({ ...payload, signature: `0x${"11".repeat(64)}1b` })],
  [
    "solana",
    ({ transaction }) => ({
      transaction: Buffer.from(String(transaction), "base64").fill(1, 65, 129).toString("base64"),
    }),
  ],
])("a payment on %s", (name, withGarbage) => {
  test("stays its owner's when others send it with a garbage signature or for an Algorand source, before and after", async () => {
    const payment = await signed(rails[name]);
    const forged = { ...payment, payload: withGarbage(payment.payload) };
    const before = facilitated();
    expectRefused(await pay(attestUrl(), sample(), forged), MISFIT);
    const elsewhere = `a source on algorand cannot be paid on ${rails[name].network}`;
    expectRefused(await pay(attestUrl(), algorandSample(), payment), elsewhere);
    expect(facilitated()).toBe(before);
    const bought = await pay(attestUrl(), sample(), payment);
    expect(bought.status).toBe(200);
    expectRefused(await pay(attestUrl(), sample(), forged), MISFIT);
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: bought.text });
  });
});

describe("a payment on Solana", () => {
  test("is settled and delivered while its payer's account is full of version 1 transactions", async () => {
    const { solana } = deployment.sandbox;
    const payer = solana?.payer.address as NonNullable<typeof solana>["payer"]["address"];
    const before = await rails.solana.received();
    await solana?.sendVersion1(payer, 60);
    const payment = await signed(rails.solana);
    await solana?.sendVersion1(payer, 10);
    const buying = pay(attestUrl(), sample(), payment);
    for (let more = 0; more < 10; more++) await solana?.sendVersion1(payer, 1);
    const bought = await buying;
    expect(bought).toMatchObject({ status: 200 });
    expect((await rails.solana.received()) - before).toBe(1_000n);
    await deployment.restart();
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: bought.text });
  });
});

describe("a payment on Base", () => {
  type Authorization = Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>;
  const owner = () => privateKeyToAccount(deployment.sandbox.payers.base?.privateKey as Hex);
  const domain = {
    name: "USD Coin (attestd sandbox)",
    version: "2",
    chainId: 8453,
    verifyingContract: BASE_USDC,
  } as const;
  type TypedData = Parameters<ReturnType<typeof owner>["signTypedData"]>[0];
  const authorizationOf = ({ payload }: PaymentPayload) => payload.authorization as Authorization;

  /** The stock client's payment, changed and signed again by its payer. */
  async function changed(over: Partial<Authorization>, under: object = {}): Promise<PaymentPayload> {
    const payment = await signed(rails.base);
    const authorization = { ...authorizationOf(payment), ...over };
    const message = {
      types: AUTHORIZATION_TYPES,
      primaryType: "TransferWithAuthorization",
      domain: { ...domain, ...under },
      message: authorization,
    };
    const signature = await owner().signTypedData(message as unknown as TypedData);
    return { ...payment, payload: { authorization, signature } };
  }
  const seconds = (from: number) => String(Math.floor(Date.now() / 1000) + from);
  const stranger = privateKeyToAccount(generatePrivateKey()).address;

  test.each<[string, () => Promise<PaymentPayload>, string]>([
    ["another payee", () => changed({ to: stranger }), "goes to"],
    ["another amount", () => changed({ value: "999" }), "moves 999, not 1000"],
    ["a time that passed", () => changed({ validBefore: seconds(-5) }), "expires at Unix time"],
    ["a time to come", () => changed({ validAfter: seconds(60) }), "is not valid before"],
    ["a life too long", () => changed({ validBefore: seconds(3_700) }), "stays valid for more than"],
    ["another token's domain", () => changed({}, { verifyingContract: stranger }), MISFIT],
    ["real USDC's domain", () => changed({}, { name: "USD Coin" }), MISFIT],
    ["another chain id", () => changed({}, { chainId: 84532 }), MISFIT],
    [
      "another asset",
      async () => {
        const payment = await signed(rails.base);
        return { ...payment, accepted: { ...payment.accepted, asset: stranger } };
      },
      "accepted.asset is not",
    ],
    [
      "another network",
      async () => {
        const payment = await signed(rails.base);
        return { ...payment, accepted: { ...payment.accepted, network: "eip155:84532" } };
      },
      "is not offered",
    ],
    [
      "the shape of Permit2",
      async () => {
        const payment = await signed(rails.base);
        return { ...payment, payload: { signature: payment.payload.signature, permit2Authorization: {} } };
      },
      "has the member permit2Authorization",
    ],
    ["the shape of version 1", async () => ({ ...(await signed(rails.base)), x402Version: 1 }), "x402Version is not 2"],
  ])("with %s is refused with the reason, and the facilitator is not asked", async (_, make, reason) => {
    const payment = await make();
    const before = { received: await rails.base.received(), facilitated: facilitated() };
    expectRefused(await pay(attestUrl(), sample(), payment), reason);
    expect({ received: await rails.base.received(), facilitated: facilitated() }).toEqual(before);
  });

  test("signed in the sandbox has another signer under the domain of the real token", async () => {
    const { payload } = await signed(rails.base);
    const under = (name: string) =>
      recoverTypedDataAddress({
        types: AUTHORIZATION_TYPES,
        primaryType: "TransferWithAuthorization",
        domain: { ...domain, name },
        message: payload.authorization as never,
        signature: payload.signature as Hex,
      });
    expect(await under(domain.name)).toBe(rails.base.payer);
    expect(await under("USD Coin")).not.toBe(rails.base.payer);
  });

  test("is rejected when its nonce was cancelled or spent elsewhere; when it was spent on us, no other payment is asked for", async () => {
    const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
    const rpcUrls = { default: { http: [deployment.sandbox.baseRpcUrl as string] } };
    const chain = defineChain({ id: 8453, name: "Base", nativeCurrency, rpcUrls });
    const wallet = createWalletClient({ account: owner(), chain, transport: http() }).extend(publicActions);
    const token = { address: BASE_USDC, abi: USDC_ABI } as const;
    const spend = ({ payload }: PaymentPayload) => {
      const { from, to, value, validAfter, validBefore, nonce } = payload.authorization as Authorization;
      const times = [BigInt(validAfter), BigInt(validBefore)] as const;
      const args = [from as Hex, to as Hex, BigInt(value), ...times, nonce as Hex, payload.signature as Hex] as const;
      return wallet.writeContract({ ...token, functionName: "transferWithAuthorization", args });
    };
    const cancel = async (payment: PaymentPayload) => {
      const { from, nonce } = authorizationOf(payment) as Record<"from" | "nonce", Hex>;
      const message = {
        types: AUTHORIZATION_TYPES,
        primaryType: "CancelAuthorization",
        domain,
        message: { authorizer: from, nonce },
      };
      const signature = await owner().signTypedData(message as unknown as TypedData);
      return wallet.writeContract({ ...token, functionName: "cancelAuthorization", args: [from, nonce, signature] });
    };

    const [cancelled, elsewhere, ours] = [await changed({}), await changed({}), await changed({})];
    const other = await changed({ ...authorizationOf(elsewhere), to: stranger });
    const hashes = [await cancel(cancelled), await spend(other), await spend(ours)];
    for (const hash of hashes)
      expect(await wallet.waitForTransactionReceipt({ hash, pollingInterval: 50 })).toMatchObject({
        status: "success",
      });

    const before = settlements();
    for (const payment of [cancelled, elsewhere])
      expectRefused(await pay(attestUrl(), sample(), payment), "FiatTokenV2: authorization is used or canceled");
    expect(await pay(attestUrl(), sample(), ours)).toMatchObject({
      status: 503,
      json: { code: "payment_unaccounted" },
    });
    expect(settlements()).toBe(before);
  });
});

describe("a payment on Solana", () => {
  /** Settles a payment at the facilitator, without the service. */
  async function settle(payment: PaymentPayload): Promise<Answer> {
    const body = { x402Version: 2, paymentPayload: payment, paymentRequirements: payment.accepted };
    return post(`${deployment.sandbox.facilitatorUrl}/settle`, body);
  }

  test("that landed without a call is unaccounted: no other payment is asked for", async () => {
    const payment = await signed(rails.solana);
    expect((await settle(payment)).json).toMatchObject({ success: true });
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({
      status: 503,
      json: { code: "payment_unaccounted" },
    });
  });

  test("made for another offer is rejected with the reason, without asking the facilitator", async () => {
    const { accepted, ...payment } = await signed(rails.solana);
    const before = facilitated();
    const dear = { ...accepted, amount: "2000" };
    expectRefused(await pay(attestUrl(), sample(), { ...payment, accepted: dear }), "accepted.amount is not 1000");
    const extra = { feePayer: rails.solana.payer };
    expectRefused(
      await pay(attestUrl(), sample(), { ...payment, accepted: { ...accepted, extra } }),
      "was not offered",
    );
    expectRefused(await pay(attestUrl(), algorandSample(), { ...payment, accepted }), "cannot be paid on solana:");
    expect(facilitated()).toBe(before);
  });
});

function payees(algorand: string, base: string | undefined, solana: string | undefined) {
  return { algorand: { pay_to: algorand }, base: { pay_to: base }, solana: { pay_to: solana } };
}

test("the service does not start with a payee that cannot receive USDC, and names the setting", async () => {
  const { payTo, payers } = deployment.sandbox;
  const nobody = algosdk.generateAccount().addr.toString();
  for (const [change, message] of [
    [{ algorand: { pay_to: nobody } }, "rails.algorand.pay_to has not opted in to USDC (asset 31566704)."],
    [{ base: { pay_to: BASE_USDC } }, "rails.base.pay_to is the token's own contract."],
    [
      { solana: { pay_to: "GsbwXfJraMomNxBcjYLcG3mxkBUiyWXAB32fGbSMQRdW" } },
      "rails.solana.pay_to has no USDC account (",
    ],
  ] as const) {
    const rightly = payees(payTo.algorand, payTo.base, payTo.solana);
    await expect(deployment.restart({ rails: { ...rightly, ...change } })).rejects.toThrow(message);
  }
  // An account that has USDC can receive it.
  const paid = payees(payers.algorand.address, payTo.base, payers.solana?.address);
  await deployment.restart({ rails: paid });
  await deployment.restart({ rails: payees(payTo.algorand, payTo.base, payTo.solana) });
});

test("a facilitator that is down closes only its own rail, also at start, and /ready names the rail", async () => {
  const ready = async () => {
    const response = await fetch(`${deployment.url}/ready`);
    return [response.status, await response.json()];
  };
  expect(await ready()).toEqual([200, { status: "pass", reasons: [] }]);
  const nobody = "http://127.0.0.1:1";
  const own = deployment.sandbox.facilitatorUrl;
  await deployment.restart({ facilitators: facilitatorsAt({ algorand: own, base: nobody, solana: own }) });
  const reasons = ["nothing is sold on eip155:8453: the facilitator has not yet listed what it settles"];
  expect(await ready()).toEqual([200, { status: "pass", reasons }]);
  const { json } = await post(attestUrl(), sample());
  expect((json.accepts as PaymentRequirements[]).map(({ network }) => network)).toEqual([
    rails.algorand.network,
    rails.solana.network,
  ]);
  expect((await pay(attestUrl(), sample(), await signed(rails.solana))).status).toBe(200);
  await deployment.restart({ facilitators: facilitatorsAt({ algorand: nobody, base: nobody, solana: nobody }) });
  expect(await ready()).toMatchObject([503, { status: "fail" }]);
  expect(await post(attestUrl(), sample())).toMatchObject({ status: 503, json: { code: "facilitator_unavailable" } });
  await deployment.restart({ facilitators: facilitatorsAt({ algorand: own, base: own, solana: own }) });
  expect(await ready()).toEqual([200, { status: "pass", reasons: [] }]);
});

function expectRefused(answer: Answer, reason: string): void {
  expect(answer).toMatchObject({ status: 402, json: { error: expect.stringContaining(reason) } });
  expect(answer.headers.get("payment-required")).toBeTruthy();
}
