import { bundleId, itemBundles, type KeyHistory, parseBatch, verify } from "@attestd/proof";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_REFUSED } from "../../packages/service/src/calls/unpaid-reads.ts";
import { type Answer, type Deployment, pay, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { failedTransfer } from "./failed-transfer.ts";
import { outsider } from "./ledger.ts";
import { algorandSources, baseSources, requireEdges, sourcesOfBoth, untilSafe } from "./many-sources.ts";
import { type Rail, type RailName, railsOf } from "./rails.ts";
import { buyBatch } from "./transports.ts";

let deployment: Deployment;
let rails: Record<RailName, Rail>;
let algorand: string[];
let base: string[];
const asked: string[] = [];
beforeAll(async () => {
  deployment = await startDeployment({ onRequest: ({ server, url }) => asked.push(`${server} ${url}`) });
  rails = await railsOf(deployment.sandbox);
  [algorand, base] = await Promise.all([algorandSources(deployment.sandbox, 3), baseSources(deployment.sandbox, 3)]);
}, 120_000);
afterAll(() => deployment.close());

const url = () => `${deployment.url}/attest-batch`;
const itemsOf = (...txids: (string | undefined)[]) => ({ items: txids.map((txid) => ({ txid })) });
const mixed = () => itemsOf(algorand[0], base[0], algorand[1]);
const notes = async () => (await outsider(deployment.sandbox).attestations()).length;
const settlements = () => asked.filter((request) => request === "facilitator /settle").length;

async function history(): Promise<KeyHistory> {
  return (await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).json()) as KeyHistory;
}

/** Requires an answer to have the transactions in their order, each verified alone, by its own nonce. */
async function requireItems({ status, text }: Answer, txids: readonly unknown[]): Promise<void> {
  expect(status, text.slice(0, 1_000)).toBe(200);
  const answer = parseBatch(text);
  expect(answer.items.map(({ statement }) => statement.txnId)).toEqual(txids);
  expect(new Set(answer.items.map(({ statement }) => statement.nonce)).size).toBe(txids.length);
  const trust = await history();
  for (const item of itemBundles(answer))
    expect(verify(JSON.stringify(item), { trust })).toMatchObject({ verified: true, type: "batch-item" });
}

describe("a batch of two chains", () => {
  const offered = async (body: unknown) => {
    const { status, headers } = await post(url(), body);
    expect(status).toBe(402);
    return decodePaymentRequiredHeader(headers.get("payment-required") as string);
  };

  test("is offered at the price of a call and of each item, on the rails that each source allows", async () => {
    const { accepts, resource } = await offered(mixed());
    expect(accepts.map(({ network, amount }) => [network, amount])).toEqual([[rails.algorand.network, "1300"]]);
    expect(resource?.description).toContain("Price: 0.001 USDC and 3 × 0.0001 USDC, 0.0013 USDC in all.");
    const ofBase = await offered(itemsOf(base[0], base[1]));
    expect(ofBase.accepts.map(({ amount }) => amount)).toEqual(["1200", "1200", "1200"]);
    // A crawler asks without a body: the price is that of the smallest batch.
    expect((await offered("")).accepts[0]?.amount).toBe("1200");
    const contract = (await (await fetch(`${deployment.url}/openapi.json`)).json()) as {
      paths: Record<string, { post: object }>;
    };
    expect(contract.paths["/attest-batch"]?.post).toMatchObject({
      "x-x402": { priceUsdc: "0.0012" },
      "x-payment-info": { price: { mode: "dynamic", min: "0.0012", max: "0.101" } },
    });
  });

  test("is bought for one payment, one settlement and one note; the same payment gets the same bytes", async () => {
    const before = { notes: await notes(), settlements: settlements(), paid: await rails.algorand.received() };
    const payment = await sign(url(), mixed(), rails.algorand.client);
    const bought = await payUntilAnswered(url(), mixed(), payment);
    await requireItems(bought, [algorand[0], base[0], algorand[1]]);
    expect(await pay(url(), mixed(), payment)).toMatchObject({ status: 200, text: bought.text });
    expect(await notes()).toBe(before.notes + 1);
    expect(settlements()).toBe(before.settlements + 1);
    expect(await rails.algorand.received()).toBe(before.paid + 1300n);

    const { batch, items } = parseBatch(bought.text);
    const bundles = itemBundles({ batch, items });
    for (const item of bundles) {
      // Its evidence is its head's, whether or not a state proof attests the round yet.
      const evidence = await fetch(`${deployment.url}/bundles/${bundleId(item)}/evidence`);
      const ofHead = `sha256:${Buffer.from(bundleId(batch), "base64url").toString("hex")}`;
      const expected = evidence.status === 202 ? { round: batch.attest.round } : { bundle: ofHead };
      expect(await evidence.json()).toMatchObject(expected);
      const fetched = await fetch(`${deployment.url}/bundles/${bundleId(item)}`);
      expect(await fetched.json()).toEqual(item);
      const checked = await post(`${deployment.url}/verify?chain=1`, item);
      const checks = { inclusion: "pass", chainSource: "pass", chainAttest: "pass" };
      expect(checked, checked.text).toMatchObject({ status: 200, json: { verified: true, checks } });
    }
    const answer = `${deployment.url}/bundles/${bundleId(batch)}`;
    expect(await (await fetch(answer)).text()).toBe(bought.text);
    for (const [of, length] of [
      [answer, bought.text.length],
      [`${deployment.url}/bundles/${bundleId(bundles[0] as (typeof bundles)[0])}`, JSON.stringify(bundles[0]).length],
    ] as const) {
      const [head, get] = [await fetch(of, { method: "HEAD" }), await fetch(of)];
      const headers = ["content-length", "content-type", "etag", "cache-control"];
      expect(headers.map((name) => head.headers.get(name))).toEqual(headers.map((name) => get.headers.get(name)));
      expect(head.headers.get("content-length")).toBe(`${length}`);
      expect((await get.text()).length).toBe(length);
      const etag = get.headers.get("etag") ?? "";
      expect((await fetch(of, { headers: { "if-none-match": etag } })).status).toBe(304);
    }

    const lines = await fetch(url(), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "payment-signature": encodePaymentSignatureHeader(payment),
        accept: "application/x-ndjson",
      },
      body: JSON.stringify(mixed()),
    });
    expect(lines.headers.get("content-type")).toBe("application/x-ndjson");
    const texts = (await lines.text()).trimEnd().split("\n");
    expect(texts.map((line) => JSON.parse(line))).toEqual(bundles);

    const reordered = { items: mixed().items.toReversed() };
    expect(await pay(url(), reordered, payment)).toMatchObject({
      status: 409,
      json: { code: "payment_bound_to_other_request" },
    });
    await deployment.restart();
    expect(await pay(url(), mixed(), payment)).toMatchObject({ status: 200, text: bought.text });
    const [first] = bundles;
    if (first) expect((await fetch(`${deployment.url}/bundles/${bundleId(first)}`)).status).toBe(200);
  });
});

test.each([
  ["MCP", "base"],
  ["A2A", "solana"],
  ["A2A", "algorand"],
] as const)("is bought over %s, paid on %s", async (transport, rail) => {
  const sources = rail === "algorand" ? [algorand[0], algorand[2]] : [base[0], base[2]];
  const payment = await sign(url(), itemsOf(...sources), rails[rail].client);
  const json = await buyBatch(deployment.url, transport, itemsOf(...sources), payment);
  await requireItems({ status: 200, text: JSON.stringify(json) } as Answer, sources);
  // The same payment brings the same over HTTP.
  expect((await pay(url(), itemsOf(...sources), payment)).json).toEqual(json);
});

test("of 255 transactions of two chains is one settlement and one note", async () => {
  const ids = await sourcesOfBoth(deployment.sandbox, 255);
  const before = { notes: await notes(), settlements: settlements() };
  const payment = await sign(url(), itemsOf(...ids), rails.algorand.client);
  const bought = await payUntilAnswered(url(), itemsOf(...ids), payment);
  expect([await notes(), settlements()]).toEqual([before.notes + 1, before.settlements + 1]);
  await requireEdges(bought, ids, await history());
});

test("eight good batches of one payer at once are all bought, each at its first request", async () => {
  const sources = await algorandSources(deployment.sandbox, 16);
  const bodies = Array.from({ length: 8 }, (_, n) => itemsOf(...sources.slice(2 * n, 2 * n + 2)));
  const payments: PaymentPayload[] = [];
  for (const body of bodies) payments.push(await sign(url(), body, rails.algorand.client));
  const answers = await Promise.all(bodies.map((body, n) => pay(url(), body, payments[n] as PaymentPayload)));
  expect(answers.map(({ status, json }) => [status, json.detail])).toEqual(bodies.map(() => [200, undefined]));
});

describe("a long list", () => {
  /** Ids of transactions that are nowhere. */
  const absent = (count: number) => Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(64, "0")}`);

  test("has its price by its ids alone, which are read once it is paid for", async () => {
    const txids = absent(1000);
    const amount = async (body: unknown) => {
      const { status, headers } = await post(url(), body);
      const offered = status === 402 && decodePaymentRequiredHeader(headers.get("payment-required") as string);
      return offered ? offered.accepts.map(({ amount }) => amount) : status;
    };
    expect(await amount(itemsOf(...txids))).toEqual(["101000", "101000", "101000"]);
    expect(await amount(itemsOf(...txids.slice(1), algorand[0]))).toEqual(["101000"]);
    expect(await amount(itemsOf(...txids.slice(1), txids[1]))).toEqual(["101000", "101000", "101000"]);
    expect((await post(url(), itemsOf(...txids, base[0]))).json).toMatchObject({
      errors: [{ pointer: "/items", detail: "has 1001 items; at most 1000 are taken at once" }],
    });
    expect((await post(url(), itemsOf(...txids.slice(1), "0x12"))).json).toMatchObject({
      errors: [{ pointer: "/items/999/txid", detail: expect.stringMatching(/^is not a transaction id/) }],
    });
    expect((await post(url(), { ...itemsOf(...txids), more: 1 })).json).toMatchObject({
      errors: [{ pointer: "/more" }],
    });
  });

  test.each(["MCP", "A2A"] as const)("is bought over %s", async (transport) => {
    const sources = await algorandSources(deployment.sandbox, 70);
    const payment = await sign(url(), itemsOf(...sources), rails.algorand.client);
    const json = await buyBatch(deployment.url, transport, itemsOf(...sources), payment);
    await requireItems({ status: 200, text: JSON.stringify(json) } as Answer, sources);
  });

  test.each(["HTTP", "MCP", "A2A"] as const)(
    "that does not fit names each fault over %s when it is paid for, and nothing is charged",
    async (transport) => {
      const [first, ...rest] = absent(100) as [string, ...string[]];
      const body = itemsOf(first, ...rest, first.replace("0x", "0X"), first);
      const before = settlements();
      const payment = await sign(url(), itemsOf(first, ...rest), rails.base.client);
      const answer =
        transport === "HTTP"
          ? (await pay(url(), body, payment)).json
          : await buyBatch(deployment.url, transport, body, payment);
      const errors = [{ pointer: "/items/100/txid", detail: expect.stringMatching(/^is not a transaction id/) }];
      const problem = { code: "body_invalid", errors };
      expect(answer).toMatchObject(transport === "A2A" ? { error: { data: problem } } : problem);
      expect(settlements()).toBe(before);
    },
  );
});

describe("a batch is refused whole, with nothing charged,", () => {
  test("and names each item that does not fit", async () => {
    const twice = await post(url(), itemsOf(base[0], algorand[0], base[0]?.toUpperCase().replace("0X", "0x")));
    expect(twice).toMatchObject({
      status: 400,
      json: { errors: [{ pointer: "/items/2", detail: "is the same transaction as items/0" }] },
    });
    const wrong = { items: [{ txid: "x" }, { txid: base[0], chain: "algorand" }, { txid: algorand[0] }] };
    const { json } = await post(url(), wrong);
    expect(json).toMatchObject({ code: "body_invalid", errors: [{ pointer: "/items/0/txid" }] });
    expect((await post(url(), { items: wrong.items.slice(1) })).json).toMatchObject({
      errors: [{ pointer: "/items/0/chain", detail: "is algorand, but txid is a transaction id of base" }],
    });
    expect((await post(url(), itemsOf(base[0]))).json).toMatchObject({ errors: [{ pointer: "/items" }] });
  });

  test("where items are unknown or have failed, all named in one problem", async () => {
    const { transactionHash: failed, blockNumber } = await failedTransfer(deployment.sandbox);
    await untilSafe(deployment.sandbox.baseRpcUrl, blockNumber);
    const unknown = `0x${"0".repeat(64)}`;
    const body = { ...itemsOf(base[0], unknown, failed), require: "succeeded" };
    const before = { notes: await notes(), settlements: settlements() };
    const payment = await sign(url(), body, rails.base.client);
    const refused = await payUntilAnswered(url(), body, payment);
    expect(refused).toMatchObject({
      status: 404,
      json: {
        code: "source_not_found",
        items: [
          { index: 1, code: "source_not_found" },
          { index: 2, code: "transaction_failed" },
        ],
      },
    });
    expect({ notes: await notes(), settlements: settlements() }).toEqual(before);
    // The payment was not taken: it buys what can be attested.
    const rest = itemsOf(base[0], failed, base[1]);
    await requireItems(await payUntilAnswered(url(), rest, payment), [base[0], failed, base[1]]);
  });

  test("where its transactions have more bytes than it pays for: each is sold alone", async () => {
    const large = await baseSources(deployment.sandbox, 3, 100_000);
    const before = { notes: await notes(), settlements: settlements() };
    const body = itemsOf(...large);
    const payment = await sign(url(), body, rails.base.client);
    const refused = await payUntilAnswered(url(), body, payment);
    expect(refused).toMatchObject({ status: 400, json: { code: "source_too_large" } });
    expect(refused.json).toMatchObject({ items: [0, 1, 2].map((index) => ({ index, code: "source_too_large" })) });
    expect(refused.json.detail).toMatch(
      /^A batch of 3 may have 274432 bytes of transactions, .*0x[0-9a-f]{64} \(100\d{3}\)/,
    );
    expect({ notes: await notes(), settlements: settlements() }).toEqual(before);
    const two = itemsOf(large[0], large[1]);
    const fitting = await sign(url(), two, rails.base.client);
    await requireItems(await payUntilAnswered(url(), two, fitting), [large[0], large[1]]);
  });

  test("and a payer gets no more read whose batches named what does not exist", async () => {
    const attempt = async (n: number) => {
      const body = itemsOf(base[0], `0x${n.toString(16).padStart(64, "0")}`);
      return [url(), body, await sign(url(), body, rails.solana.client)] as const;
    };
    for (let n = 0; n < MAX_REFUSED; n++)
      expect(await payUntilAnswered(...(await attempt(n)))).toMatchObject({ status: 404 });
    const before = asked.length;
    const refused = await pay(...(await attempt(MAX_REFUSED)));
    expect(refused).toMatchObject({ status: 503, json: { code: "over_capacity" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(200);
    expect(asked.slice(before).filter((request) => /^(base|facilitator)/.test(request))).toEqual([]);
  });
});
