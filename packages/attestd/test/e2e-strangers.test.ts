import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Counting, startCounting } from "./counting.ts";
import { type Buy, type DoorName, doorsOf, type Told } from "./doors.ts";
import { type Envelopes, envelopesOf, named } from "./envelopes.ts";
import { type Rail, type RailName, railsOf } from "./rails.ts";
import { post, sign, startWorld, type World } from "./world.ts";

const NAMES: RailName[] = ["algorand", "base", "solana"];
const DOORS: DoorName[] = ["HTTP", "MCP", "A2A"];
/** What a stranger may be told: sentences about what it sent, which are the same whatever is known of the payment. */
const OF_THE_SIGNATURE =
  /^the payer's signature does not fit the payment$|^the payment transaction (is not signed$|has no signature)/;

let world: World;
let rails: Record<RailName, Rail>;
let envelopes: Record<RailName, Envelopes>;
let doors: Record<DoorName, Buy> & AsyncDisposable;
let counting: Counting;
beforeAll(async () => {
  // Payments of ten rounds are to live through all of this.
  world = await startWorld({ roundMs: 1000 });
  counting = await startCounting(world.sandbox);
  await world.restart(counting.settings);
  [rails, doors] = await Promise.all([railsOf(world.sandbox), doorsOf(world.url)]);
  envelopes = envelopesOf(world.sandbox);
});
afterAll(async () => {
  await doors?.[Symbol.asyncDispose]();
  await world?.close();
  await counting?.[Symbol.asyncDispose]();
});

const txid = () => world.sandbox.sampleTransactions.base as string;
const signed = (name: RailName) => sign(`${world.url}/attest`, { txid: txid() }, rails[name].client);

/** Has a payment settled behind the service's back. */
async function settle({ accepted, ...payment }: PaymentPayload): Promise<void> {
  const body = { x402Version: 2, paymentPayload: { ...payment, accepted }, paymentRequirements: accepted };
  expect(await post(`${world.sandbox.facilitatorUrl}/settle`, body)).toMatchObject({ json: { success: true } });
}

/** What each door says to a payment, which has to be the same, and that nobody was asked to vouch for it or for money. */
async function toldAtEveryDoor(payment: PaymentPayload): Promise<Told> {
  const told: Told[] = [];
  for (const door of DOORS) told.push(await doors[door](txid(), payment));
  expect(told).toEqual(told.map(() => told[0]));
  return told[0] as Told;
}

describe.each(NAMES)("a purchase on %s, at every door,", (name) => {
  const purchase = `purchase-of-${name}`;
  let own: PaymentPayload;
  let bundle: unknown;
  beforeAll(async () => {
    own = named(await signed(name), purchase);
    const bought = await doors.HTTP(txid(), own);
    expect(bought).toMatchObject({ kind: "delivered" });
    bundle = bought.kind === "delivered" && bought.bundle;
  });

  test("is its payer's alone: whoever has no signature learns nothing, reserves nothing, has nobody asked", async () => {
    const { forged, own: made } = envelopes[name];
    const shapes = { ...forged, "signed for another network": made["another network"] };
    for (const [shape, change] of Object.entries(shapes)) {
      const known = await change(own);
      // A payment that the payer never made, under the name of the purchase that it made.
      const fresh = await change(named(await signed(name), purchase));
      const asked = await counting.during(async () => {
        const told = await toldAtEveryDoor(known);
        expect([shape, await toldAtEveryDoor(fresh)]).toEqual([shape, told]);
        expect(told.kind).toBe("payment_required");
        const error = "error" in told ? String(told.error) : "";
        if (shape !== "signed for another network" || name === "base") expect(error).toMatch(OF_THE_SIGNATURE);
        else expect(error).toMatch(/names another ledger|is not offered/);
      });
      expect([shape, asked.facilitator]).toEqual([shape, []]);
      const ofMoney = /\/assets\/|eth_call|getAccountInfo|getTokenAccountBalance/;
      const questions = Object.values(asked).flat();
      expect([shape, questions.filter((question) => ofMoney.test(question))]).toEqual([shape, []]);
    }
  });

  test("is given to its payer, also for another payment under its name, which is left unsettled", async () => {
    expect(await toldAtEveryDoor(own)).toEqual({ kind: "delivered", bundle });
    const before = await rails[name].received();
    expect(await toldAtEveryDoor(named(await signed(name), purchase))).toEqual({ kind: "delivered", bundle });
    expect(await rails[name].received()).toBe(before);
  });

  test("is not offered again for a payment that was made without us, and is for one that expired", async () => {
    const spent = await signed(name);
    await settle(spent);
    expect(await toldAtEveryDoor(spent)).toEqual({ kind: "problem", code: "payment_unaccounted" });
    const expired = await envelopes[name].own.expired(await signed(name));
    expect(await toldAtEveryDoor(expired)).toMatchObject({ kind: "payment_required" });
  });
});
