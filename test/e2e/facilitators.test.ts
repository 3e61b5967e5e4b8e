import type { Facilitator, FacilitatorKind } from "@attestd/sandbox";
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Deployment, pay, payUntilAnswered, sign, startDeployment } from "./deployment.ts";
import { facilitatorSettings } from "./facilitator-settings.ts";
import { type RailName, railsOf } from "./rails.ts";

const KINDS = ["cdp", "payai", "goplausible"] as const;
type Kind = (typeof KINDS)[number];
const NAMES: RailName[] = ["base", "algorand", "solana"];

let deployment: Deployment;
/** Requests to settle, CDP's excepted. */
let settlements = 0;
let rails: Awaited<ReturnType<typeof railsOf>>;
beforeAll(async () => {
  deployment = await startDeployment({
    facilitators: KINDS,
    onRequest: ({ url }) => {
      if (url === "/settle") settlements += 1;
    },
  });
  rails = await railsOf(deployment.sandbox);
});
afterAll(() => deployment.close());

const attestUrl = () => `${deployment.url}/attest`;
const sample = () => ({ txid: deployment.sandbox.sampleTransactions.base as string });
const signed = (name: RailName) => sign(attestUrl(), sample(), rails[name].client);
const isOf = (kind: Kind) => (facilitator: Facilitator) => facilitator.kind === kind;

/** Which facilitator settles each rail, so that each kind has each of its rails once. CDP's and PayAI's lists of networks have no Algorand. */
type Round = Partial<Record<RailName, Kind>>;
const ROUNDS: Round[] = [
  { base: "cdp", algorand: "goplausible", solana: "payai" },
  { base: "payai", solana: "cdp" },
  { base: "goplausible", solana: "goplausible" },
];
const railsIn = (round: Round) => NAMES.filter((name) => round[name] !== undefined);

/** Lets each rail of a round settle by its facilitator alone. */
function use(round: Round): Promise<void> {
  const chosen = Object.entries(round).map(([rail, kind]) => {
    const found = deployment.sandbox.facilitators[rail as RailName]?.find(isOf(kind));
    return [rail, found ? [found] : []];
  });
  return deployment.restart(facilitatorSettings(deployment.sandbox, Object.fromEntries(chosen)));
}

function behave(round: Round, behaviour: string): void {
  const kinds: readonly FacilitatorKind[] = Object.values(round);
  for (const listed of Object.values(deployment.sandbox.facilitators))
    for (const facilitator of listed) if (kinds.includes(facilitator.kind)) facilitator.behave(behaviour);
}

/** Buys on every rail of a round at once, while their facilitators behave: each payment is settled once, and each bundle is kept. */
async function buyDespite(round: Round, behaviour: string): Promise<void> {
  const buying = railsIn(round).map(async (name) => {
    const before = await rails[name].received();
    const payment = await signed(name);
    return async () => {
      const bought = await payUntilAnswered(attestUrl(), sample(), payment);
      expect([name, bought.status, bought.json.version]).toEqual([name, 200, 1]);
      expect([name, (await rails[name].received()) - before]).toEqual([name, 1_000n]);
      expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: bought.text });
    };
  });
  const ready = await Promise.all(buying);
  behave(round, behaviour);
  await Promise.all(ready.map((buy) => buy()));
}

describe.each(ROUNDS)("with facilitators %o", (round) => {
  beforeAll(() => use(round));

  test.each(railsIn(round))("a payment on %s buys a bundle, whatever its client describes", async (name) => {
    const before = await rails[name].received();
    const resource = { url: attestUrl(), description: "x".repeat(5_000) };
    const payment = { ...(await signed(name)), resource } as PaymentPayload;
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, json: { version: 1 } });
    expect((await rails[name].received()) - before).toBe(1_000n);
  });

  // GoPlausible's is a stock one on these rails.
  if (round.base === "goplausible") return;

  test.each(["pending", "pending:700", "lost", "denied:transaction_failed", "exhausted"])(
    "payments are settled once and delivered, though a settlement is %s",
    (behaviour) => buyDespite(round, `settle=${behaviour}*1`),
  );

  test.each(["unauthorized", "exhausted", "limited", "failing", "away"])(
    "no payer is asked for another payment while verifications are %s",
    async (fault) => {
      const payments = await Promise.all(railsIn(round).map(async (name) => [name, await signed(name)] as const));
      behave(round, `verify=${fault}`);
      const answers = payments.map(async ([name, payment]) => [
        name,
        (await pay(attestUrl(), sample(), payment)).status,
      ]);
      expect(await Promise.all(answers)).toEqual(railsIn(round).map((name) => [name, 503]));
      behave(round, "");
    },
  );

  test("a payment that is refused is not settled, and the 402 states the reason", async () => {
    behave(round, "verify=refused:kyt_risk_detected");
    for (const name of railsIn(round)) {
      const before = await rails[name].received();
      const refused = await pay(attestUrl(), sample(), await signed(name));
      expect(refused).toMatchObject({ status: 402, json: { error: expect.stringContaining("kyt_risk_detected") } });
      expect(await rails[name].received()).toBe(before);
    }
    behave(round, "");
  });
});

describe("a settlement that a facilitator answers otherwise", () => {
  const [round] = ROUNDS as [Round];
  beforeAll(() => use(round));

  test.each([
    ["late:700"],
    ["empty"],
    ["refused:settle_exact_svm_block_height_exceeded"],
    ["away"],
    ["unauthorized"],
    ["limited"],
    ["failing"],
  ])("%s: ends in one payment and a bundle", (behaviour) => buyDespite(round, `settle=${behaviour}*1`));
});

test("GoPlausible's own package settles on Algorand, under the name that it lists; buyer and receipt have CAIP-2's", async () => {
  await use({ algorand: "goplausible" });
  const facilitator = deployment.sandbox.facilitators.algorand.find(isOf("goplausible")) as Facilitator;
  const supported = (await (await fetch(`${facilitator.url}/supported`)).json()) as { kinds: unknown[] };
  expect(supported.kinds).toContainEqual(
    expect.objectContaining({ network: `algorand:${deployment.sandbox.genesisHash}`, x402Version: 2 }),
  );
  const short = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
  const before = await rails.algorand.received();
  const payment = await signed("algorand");
  expect(payment.accepted.network).toBe(short);
  const { status, headers } = await pay(attestUrl(), sample(), payment);
  expect(status).toBe(200);
  const receipt = JSON.parse(Buffer.from(headers.get("payment-response") ?? "", "base64").toString());
  expect(receipt).toMatchObject({ success: true, network: short });
  expect((await rails.algorand.received()) - before).toBe(1_000n);
  // A client that names the network as the facilitator does.
  const again = await signed("algorand");
  const named = { ...again.accepted, network: `algorand:${deployment.sandbox.genesisHash}` } as typeof again.accepted;
  expect(await pay(attestUrl(), sample(), { ...again, accepted: named })).toMatchObject({ status: 200 });
});

test("a settlement that is reported as done or under way, and never sent, ends in a 402 once its payment has expired", async () => {
  await use({ algorand: "goplausible" });
  const before = await rails.algorand.received();
  const earlier = settlements;
  const buying = [];
  for (const behaviour of ["unsent", "duplicate", "claimed"]) {
    const payment = await signed("algorand");
    behave({ algorand: "goplausible" }, `settle=${behaviour}`);
    buying.push(payUntilAnswered(attestUrl(), sample(), payment));
    await expect.poll(() => settlements).toBe(earlier + buying.length);
  }
  const answers = await Promise.all(buying);
  behave({ algorand: "goplausible" }, "");
  expect(answers.map(({ status }) => status)).toEqual([402, 402, 402]);
  expect(await rails.algorand.received()).toBe(before);
});

test("CDP takes tokens of a P-256 key too", async () => {
  const cdp = deployment.sandbox.facilitators.base?.find(isOf("cdp")) as Facilitator;
  const [, key] = cdp.credentials;
  const { facilitators } = facilitatorSettings(deployment.sandbox, {
    base: [{ ...cdp, credentials: key ? [key] : [] }],
  });
  await deployment.restart({ facilitators });
  expect(key?.algorithm).toBe("ES256");
  expect(await pay(attestUrl(), sample(), await signed("base"))).toMatchObject({ status: 200, json: { version: 1 } });
});
