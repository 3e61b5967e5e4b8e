import { join } from "node:path";
import type { Address } from "@solana/kit";
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Table } from "../../packages/service/test/settings.ts";
import { type FaultProxy, type ProxiedRequest, type ProxiedResponse, startFaultProxy } from "../crash/fault-proxy.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { CALL_REQUESTS } from "./call-requests.ts";
import { type Bundles, probesOf } from "./cost-probes.ts";
import { type Counting, startCounting, UPSTREAMS } from "./counting.ts";
import { type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { type Envelopes, envelopesOf, named } from "./envelopes.ts";
import { type Rail, type RailName, railsOf, usdcAccountOf } from "./rails.ts";
import { type Buy, type Outcome, type TransportName, transportsOf } from "./transports.ts";
import { type CostRow, readCosts } from "./upstream-cost.ts";

const NAMES: RailName[] = ["algorand", "base", "solana"];
const TRANSPORTS: TransportName[] = ["HTTP", "MCP", "A2A"];
/** The sentences that a stranger may get: they depend only on its own request. */
const OF_THE_SIGNATURE =
  /^the payer's signature does not fit the payment$|^the payment transaction (is not signed$|has no signature)/;

let deployment: Deployment;
let rails: Record<RailName, Rail>;
let envelopes: Record<RailName, Envelopes>;
let transports: Record<TransportName, Buy> & AsyncDisposable;
let counting: Counting;
/** Between the counting proxy and the Solana node. */
let solana: FaultProxy;
beforeAll(async () => {
  deployment = await startDeployment({ roundMs: 400 });
  solana = await startFaultProxy(deployment.sandbox.solanaRpcUrl as string);
  counting = await startCounting({ ...deployment.sandbox, solanaRpcUrl: solana.url });
  await deployment.restart(counting.settings);
  [rails, transports] = await Promise.all([railsOf(deployment.sandbox), transportsOf(deployment.url)]);
  envelopes = envelopesOf(deployment.sandbox);
});
afterAll(async () => {
  await transports?.[Symbol.asyncDispose]();
  await deployment?.close();
  await counting?.[Symbol.asyncDispose]();
  await solana?.close();
});

const costs = readCosts();
/** The purchases on each rail. */
const bought = {} as Record<RailName, PaymentPayload>;

const folder = temporaryFolder();
afterAll(async () => (await folder)[Symbol.asyncDispose]());
const newJournal = async () => ({ journal: { url: `sqlite:${join((await folder).path, "another.db")}` } });

const txid = () => deployment.sandbox.sampleTransactions.base as string;
const signed = (name: RailName) => sign(`${deployment.url}/attest`, { txid: txid() }, rails[name].client);

/** Settles a payment without the service. */
async function settle({ accepted, ...payment }: PaymentPayload): Promise<void> {
  const body = { x402Version: 2, paymentPayload: { ...payment, accepted }, paymentRequirements: accepted };
  expect(await post(`${deployment.sandbox.facilitatorUrl}/settle`, body)).toMatchObject({ json: { success: true } });
}

/** Sends a payment over every transport. @returns the outcome, which must be the same on all of them */
async function sendEverywhere(payment: PaymentPayload): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const name of TRANSPORTS) outcomes.push(withoutTime(await transports[name](txid(), payment)));
  expect(outcomes).toEqual(outcomes.map(() => outcomes[0]));
  return outcomes[0] as Outcome;
}

/** Removes the round or second in a refusal: time passes between two transports. */
function withoutTime(outcome: Outcome): Outcome {
  return JSON.parse(JSON.stringify(outcome).replace(/too soon after (round )?\d+/, "too soon"));
}

describe.each(NAMES)("a purchase on %s, over every transport,", (name) => {
  const purchase = `purchase-of-${name}`;
  let own: PaymentPayload;
  let bundle: object;
  beforeAll(async () => {
    own = named(await signed(name), purchase);
    const outcome = await transports.HTTP(txid(), own);
    if (outcome.kind !== "delivered") throw new Error(`nothing was bought: ${JSON.stringify(outcome)}`);
    ({ bundle } = outcome);
    bought[name] = own;
  });

  test("is only for its payer: a request without a valid signature reveals nothing, reserves nothing and asks no upstream", async () => {
    const { forged, own: made } = envelopes[name];
    const shapes = { ...forged, "signed for another network": made["another network"] };
    for (const [shape, change] of Object.entries(shapes)) {
      const known = await change(own);
      // A payment that the payer did not make, with the identifier of a purchase that it did make.
      const fresh = await change(named(await signed(name), purchase));
      const asked = await counting.during(async () => {
        const outcome = await sendEverywhere(known);
        expect([shape, await sendEverywhere(fresh)]).toEqual([shape, outcome]);
        expect(outcome.kind).toBe("payment_required");
        const error = "error" in outcome ? String(outcome.error) : "";
        if (shape !== "signed for another network" || name === "base") expect(error).toMatch(OF_THE_SIGNATURE);
        else expect(error).toMatch(/names another ledger|is not offered/);
      });
      expect([shape, asked.facilitator]).toEqual([shape, []]);
      const ofMoney = /\/assets\/|eth_call|getAccountInfo|getTokenAccountBalance/;
      const questions = Object.values(asked).flat();
      expect([shape, questions.filter((question) => ofMoney.test(question))]).toEqual([shape, []]);
    }
  });

  test("is delivered to its payer, also for another payment with the same identifier, which is not settled", async () => {
    expect(await sendEverywhere(own)).toEqual({ kind: "delivered", bundle });
    const before = await rails[name].received();
    expect(await sendEverywhere(named(await signed(name), purchase))).toEqual({ kind: "delivered", bundle });
    expect(await rails[name].received()).toBe(before);
  });

  test("is not offered again after a payment that was settled without us, and is after one that expired", async () => {
    const spent = await signed(name);
    await settle(spent);
    expect(await sendEverywhere(spent)).toEqual({ kind: "problem", code: "payment_unaccounted" });
    const expired = await envelopes[name].own.expired(await signed(name));
    expect(await sendEverywhere(expired)).toMatchObject({ kind: "payment_required" });
  });
});

test.each(CALL_REQUESTS)(
  "a purchase on $rail of a transaction of $source causes no more requests than `attestd costs` counts",
  async ({ rail, source, bundle }) => {
    const body = { txid: deployment.sandbox.sampleTransactions[source as "algorand" | "base"] };
    const url = `${deployment.url}/attest`;
    const excess = async () => {
      const payment = await sign(url, body, rails[rail as RailName].client);
      const asked = await counting.during(async () => expect((await pay(url, body, payment)).status).toBe(200));
      const { facilitator, ...nodes } = asked;
      const counts = Object.entries(nodes).map(([name, { length }]) => [name, length] as const);
      expect(facilitator).toEqual(["POST /verify", "POST /settle"]);
      return counts.filter(([name, count]) => count > Number(bundle[name as keyof typeof bundle] ?? 0n));
    };
    // The service asks again where a block is late.
    const first = await excess();
    if (first.length > 0) expect({ first, second: await excess() }).toEqual({ first, second: [] });
  },
);

/** Whether a request is about an earlier purchase. */
const isOfPurchase = ({ request }: CostRow) => /known payment|bundle/.test(request);
/** Whether a repeated request costs less, because the first one's answers are cached. */
const isKept = ({ request }: CostRow) => request.includes("?chain=1");

let bundles: Bundles | undefined;

/** Buys a bundle of every kind and chain. */
async function bundlesOfEveryKind(): Promise<Bundles> {
  const { algorand, algorandHeight, base, baseHeight } = deployment.sandbox.sampleTransactions;
  const sources = [
    { chain: "algorand", txId: algorand, height: algorandHeight },
    { chain: "base", txId: base, height: baseHeight },
  ] as const;
  const buy = (make: (source: (typeof sources)[number]) => [path: string, body: object]) =>
    Promise.all(
      sources.map(async (source) => {
        const [path, body] = make(source);
        const payment = await sign(`${deployment.url}${path}`, body, rails[source.chain].client);
        const { status, json } = await pay(`${deployment.url}${path}`, body, payment);
        expect(status).toBe(200);
        return json;
      }),
    );
  const [transaction, block, inclusion] = await Promise.all([
    buy(({ txId, chain }) => ["/attest", { txid: txId, chain }]),
    buy(({ chain, height }) => ["/attest-block", { chain, height }]),
    buy((source) => ["/prove-tx-inclusion", source]),
  ]);
  return { transaction, block, inclusion };
}

// Each with a new service: paid calls are checked again only after 15 s.
describe.each<[string, CostRow[], () => Promise<Table>]>([
  ["about what was bought", costs.filter(isOfPurchase), async () => ({})],
  ["about nothing that was bought", costs.filter((row) => !isOfPurchase(row)), newJournal],
])("a request without money %s", (_, rows, settings) => {
  let made: Awaited<ReturnType<typeof probesOf>>;
  beforeAll(async () => {
    bundles ??= await bundlesOfEveryKind();
    await deployment.restart(await settings());
    made = await probesOf({
      deployment,
      bought,
      bundles,
      fillAccounts: fillSolanaAccounts,
    });
  });
  afterAll(() => made?.[Symbol.asyncDispose]());

  test("is a row of docs/upstream-cost.md", () => {
    expect(Object.keys(made.probes)).toEqual(costs.map(({ request }) => request));
  });

  test.each(rows)("causes at most the upstream requests of docs/upstream-cost.md: $request", async (row) => {
    const most = nothing();
    for (const probe of made.probes[row.request] ?? []) {
      let asked = await counting.during(probe);
      // A check of a paid call may fall in between.
      if (isAbove(asked, row) && !isKept(row)) asked = await counting.during(probe);
      if (isAbove(asked, row)) expect({ asked }).toEqual(row.counts);
      for (const upstream of UPSTREAMS) most[upstream] = Math.max(most[upstream], asked[upstream].length);
    }
    if (row.exact) expect(most).toEqual(row.counts);
  });

  const nothing = () => Object.fromEntries(UPSTREAMS.map((upstream) => [upstream, 0])) as CostRow["counts"];
  const isAbove = (asked: Record<string, string[]>, { counts }: CostRow) =>
    UPSTREAMS.some((upstream) => (asked[upstream]?.length ?? 0) > counts[upstream]);

  /** Makes every account list a full page of transactions without a memo, each a copy of the purchase's. */
  async function fillSolanaAccounts(): Promise<() => void> {
    const rpc = async (method: string, params: unknown[]) =>
      (await post(deployment.sandbox.solanaRpcUrl as string, { jsonrpc: "2.0", id: 1, method, params })).json.result;
    const slot = (await rpc("getSlot", [])) as number;
    const landed = JSON.stringify(await landedTransaction());
    const entry = (i: number) => ({ signature: `${i}`.padStart(88, "1"), slot, err: null, memo: null });
    const answering =
      (result: (limit: number) => unknown) =>
      (response: ProxiedResponse, { body }: ProxiedRequest) => {
        const { id, params } = JSON.parse(String(body));
        const answer = JSON.stringify({ jsonrpc: "2.0", id, result: result(params[1].limit) });
        return { ...response, body: Buffer.from(answer) };
      };
    const ofAccount = answering((limit) => Array.from({ length: limit }, (_, i) => entry(i + limit)));
    const ofSignature = answering(() => JSON.parse(landed));
    const rules = [
      solana.add({ match: { rpc: "getSignaturesForAddress" }, fault: { kind: "wrong", change: ofAccount } }),
      solana.add({ match: { rpc: "getTransaction" }, fault: { kind: "wrong", change: ofSignature } }),
    ];
    return () => rules.forEach((takeOut) => void takeOut());

    async function landedTransaction(): Promise<unknown> {
      const account = await usdcAccountOf(rails.solana.payer as Address);
      const [latest] = (await rpc("getSignaturesForAddress", [account, { limit: 1 }])) as { signature: string }[];
      const options = { encoding: "base64", commitment: "confirmed", maxSupportedTransactionVersion: 0 };
      return rpc("getTransaction", [latest?.signature, options]);
    }
  }
});
