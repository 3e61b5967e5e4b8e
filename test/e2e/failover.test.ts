import type { Facilitator } from "@attestd/sandbox";
import type { PaymentRequirements } from "@x402/core/types";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Deployment, pay, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { type RailName, railsOf } from "./rails.ts";

/** Two facilitators of each rail, the preferred one first. */
let deployment: Deployment;
let rails: Awaited<ReturnType<typeof railsOf>>;
beforeAll(async () => {
  deployment = await startDeployment({ facilitators: ["cdp", "payai"] });
  rails = await railsOf(deployment.sandbox);
});
afterAll(() => deployment.close());
// A new process prefers the first facilitator, whatever that one did before.
beforeEach(async () => {
  for (const facilitator of both("base")) facilitator.behave("");
  await deployment.restart();
});

const attestUrl = () => `${deployment.url}/attest`;
const sample = () => ({ txid: deployment.sandbox.sampleTransactions.base as string });
const signed = (name: RailName) => sign(attestUrl(), sample(), rails[name].client);

function both(name: "base" | "solana"): [Facilitator, Facilitator] {
  const [first, second] = deployment.sandbox.facilitators[name] ?? [];
  if (!first || !second) throw new Error("the rail has not two facilitators");
  return [first, second];
}

async function offerOn(name: RailName): Promise<PaymentRequirements | undefined> {
  const { json } = await post(attestUrl(), sample());
  return (json.accepts as PaymentRequirements[]).find(({ network }) => network === rails[name].network);
}

describe("a payment on Base is delivered once", () => {
  test.each([
    // Nothing of the first facilitator works.
    "verify=away,settle=away",
    "verify=unauthorized,settle=unauthorized",
    // It verifies, and settles nothing.
    "settle=refused:insufficient_funds",
    // It settles, and says that it did not: the other one is asked, and finds the authorization used.
    "settle=lost",
    "settle=denied:transaction_failed",
  ])("by two facilitators, of which the first has %s", async (behaviour) => {
    const [first] = both("base");
    const before = await rails.base.received();
    const payment = await signed("base");
    first.behave(behaviour);
    const bought = await payUntilAnswered(attestUrl(), sample(), payment);
    expect(bought).toMatchObject({ status: 200, json: { version: 1 } });
    expect((await rails.base.received()) - before).toBe(1_000n);
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: bought.text });
  });
});

describe("on Solana, where the facilitator pays the fee", () => {
  test("offers follow the facilitator that can sell, and a payment stays with the one that it names", async () => {
    const [first, second] = both("solana");
    const before = await rails.solana.received();
    const payment = await signed("solana");
    first.behave("verify=failing");
    expect((await pay(attestUrl(), sample(), payment)).status).toBe(503);
    const offer = await offerOn("solana");
    expect(offer?.extra.feePayer).not.toBe(payment.accepted.extra.feePayer);
    // By the second one's fee payer, while the first does not answer.
    const other = await signed("solana");
    expect(other.accepted.extra.feePayer).toBe(offer?.extra.feePayer);
    expect(await payUntilAnswered(attestUrl(), sample(), other)).toMatchObject({ status: 200 });
    // The first payment waits for its facilitator: the second one cannot settle it.
    second.behave("verify=failing,settle=failing");
    expect((await pay(attestUrl(), sample(), payment)).status).toBe(503);
    first.behave("");
    expect(await payUntilAnswered(attestUrl(), sample(), payment)).toMatchObject({ status: 200 });
    expect((await rails.solana.received()) - before).toBe(2_000n);
  });

  test("a payment whose settlement fails is settled by the same one once it is back", async () => {
    const [first] = both("solana");
    const before = await rails.solana.received();
    const payment = await signed("solana");
    first.behave("settle=away*2");
    expect(await payUntilAnswered(attestUrl(), sample(), payment)).toMatchObject({ status: 200 });
    expect((await rails.solana.received()) - before).toBe(1_000n);
  });
});

test.each([
  ["verify=unauthorized", "HTTP 401 to verify", "check its …_KIND, …_KEY_ID and …_SECRET"],
  ["settle=exhausted", "HTTP 403 to settle", "check the account with it"],
])(
  "/ready names the facilitator that refuses us (%s), while the other one sells",
  async (behaviour, answer, remedy) => {
    const [first] = both("base");
    first.behave(behaviour);
    expect(await payUntilAnswered(attestUrl(), sample(), await signed("base"))).toMatchObject({ status: 200 });
    const ready = await fetch(`${deployment.url}/ready`);
    expect(ready.status).toBe(200);
    const { reasons } = (await ready.json()) as { reasons: string[] };
    const { host } = new URL(first.url);
    expect(reasons).toEqual([expect.stringContaining(`eip155:8453: ${host}: the facilitator answers ${answer}`)]);
    expect(reasons[0]).toContain(remedy);
  },
);

test.each([
  ["unauthorized", "HTTP 401 to verify"],
  ["limited", "HTTP 429 to verify"],
])("/ready names each of them when all answer %s", async (behaviour, answer) => {
  const [first, second] = both("base");
  for (const facilitator of [first, second]) facilitator.behave(`verify=${behaviour}`);
  const reasons = async () => {
    expect((await pay(attestUrl(), sample(), await signed("base"))).status).toBe(503);
    return ((await (await fetch(`${deployment.url}/ready`)).json()) as { reasons: string[] }).reasons;
  };
  const named = [first, second].map(({ url }) =>
    expect.stringContaining(`${new URL(url).host}: the facilitator answers ${answer}`),
  );
  await vi.waitFor(async () => expect(await reasons()).toEqual(expect.arrayContaining(named)), { timeout: 20_000 });
});
