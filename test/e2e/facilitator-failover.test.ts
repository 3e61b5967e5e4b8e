import type { PaymentRequirements } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Deployment, pay, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { facilitatorSettings } from "./facilitator-settings.ts";
import { type KillableFacilitator, startKillableFacilitator } from "./own-facilitator.ts";
import { type RailName, railsOf } from "./rails.ts";

const NAMES: RailName[] = ["base", "algorand", "solana"];
/** A payment on these is bound to the facilitator whose fee payer it names. */
const BOUND: RailName[] = ["algorand", "solana"];

let deployment: Deployment;
let rails: Awaited<ReturnType<typeof railsOf>>;
/** The preferred facilitator of every rail; the sandbox's own is the second. */
let first: KillableFacilitator;
beforeAll(async () => {
  // An Algorand payment lives for 60 rounds: long enough for a facilitator that comes back.
  deployment = await startDeployment({ roundMs: 500 });
  rails = await railsOf(deployment.sandbox);
  first = await startKillableFacilitator(deployment.sandbox);
  const { facilitators } = facilitatorSettings(deployment.sandbox);
  await deployment.restart({ facilitators: [{ url: first.url, rails: NAMES }, ...facilitators] });
});
afterAll(async () => {
  await first.kill();
  await deployment.close();
});

const attestUrl = () => `${deployment.url}/attest`;
const sample = () => ({ txid: deployment.sandbox.sampleTransactions.base as string });
const signed = (name: RailName) => sign(attestUrl(), sample(), rails[name].client);
const secondFeePayer = (name: RailName) =>
  name === "algorand"
    ? deployment.sandbox.algorand.accounts.feePayer.address
    : deployment.sandbox.solana?.feePayer.address;

/** Sends a payment on each rail, and what the payee has received so far. */
async function prepare(names: RailName[]) {
  const preparing = names.map(async (name) => ({
    name,
    before: await rails[name].received(),
    payment: await signed(name),
  }));
  return Promise.all(preparing);
}

type Prepared = Awaited<ReturnType<typeof prepare>>[number];

async function expectDelivered(buying: { prepared: Prepared; answer: ReturnType<typeof pay> }[]): Promise<void> {
  for (const { prepared, answer } of buying) {
    const { name, before, payment } = prepared;
    const bought = await answer;
    expect([name, bought.status, bought.json.version]).toEqual([name, 200, 1]);
    expect([name, (await rails[name].received()) - before]).toEqual([name, 1_000n]);
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: bought.text });
  }
}

const send = (prepared: Prepared) => ({ prepared, answer: payUntilAnswered(attestUrl(), sample(), prepared.payment) });

/** Waits until the first facilitator has taken up as many settlements as it was given behaviours for. */
const untilTakenUp = () => expect.poll(() => first.behaviours(), { timeout: 10_000 }).toBe("");

describe("while the first of two facilitators", () => {
  test("answers, offers name its fee payers, and it settles", async () => {
    const { json } = await post(attestUrl(), sample());
    for (const { network, extra } of json.accepts as PaymentRequirements[])
      for (const name of BOUND)
        if (rails[name].network === network) expect(extra.feePayer).not.toBe(secondFeePayer(name));
    await expectDelivered((await prepare(NAMES)).map(send));
  });

  test("is killed after it settled and before it answers, every payment is delivered once", async () => {
    await first.behave("settle=late:60000*3");
    const prepared = await prepare(NAMES);
    const buying = prepared.map(send);
    await untilTakenUp();
    for (const { name, before } of prepared)
      await expect.poll(() => rails[name].received(), { timeout: 10_000 }).toBe(before + 1_000n);
    await first.kill();
    await expectDelivered(buying);
  });

  test("is killed before it settles, the second one settles on Base, and it settles the others when it is back", async () => {
    const { port } = new URL(first.url);
    first = await startKillableFacilitator(deployment.sandbox, Number(port));
    // The service prefers the second one for half a minute after the first has failed it.
    await deployment.restart();
    await first.behave("settle=slow:60000*3");
    const prepared = await prepare(NAMES);
    const buying = prepared.map(send);
    await untilTakenUp();
    await first.kill();
    await expectDelivered(buying.filter(({ prepared: { name } }) => name === "base"));
    for (const { name, before } of prepared)
      if (BOUND.includes(name)) expect([name, await rails[name].received()]).toEqual([name, before]);
    first = await startKillableFacilitator(deployment.sandbox, Number(port));
    await expectDelivered(buying.filter(({ prepared: { name } }) => name !== "base"));
  });

  test("is away, offers name the second's fee payers, and every rail is sold", async () => {
    await first.kill();
    // What is away is noticed by the payments that it cannot verify; those named its fee payers.
    const named = async () => {
      for (const name of BOUND) await pay(attestUrl(), sample(), await signed(name));
      const { json } = await post(attestUrl(), sample());
      const accepts = json.accepts as PaymentRequirements[];
      return BOUND.map((name) => accepts.find(({ network }) => network === rails[name].network)?.extra.feePayer);
    };
    await expect.poll(named, { timeout: 30_000 }).toEqual(BOUND.map(secondFeePayer));
    await expectDelivered((await prepare(NAMES)).map(send));
  });
});
