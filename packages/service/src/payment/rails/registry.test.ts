import { createHmac } from "node:crypto";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { json, Upstream } from "../../../test/fakes/providers.ts";
import { enableRails } from "../enabled-rail.ts";
import { forwardedPayment } from "../forwarded-payment.ts";
import { Offers } from "../offers.ts";
import { PaymentRefused, type Rail, type RailContext, type RailFacts, type RailKind } from "./rail.ts";
import { openRails, RAILS } from "./registry.ts";

/* A made-up rail: an IOU in shells, which its drawer seals with a secret, and whose key is a serial number. */

const IOU: RailFacts = {
  name: "moon",
  network: "moon:sea-of-tranquility",
  optionNetwork: "the-moon",
  asset: "shells",
  paysFor: (source) => source !== "algorand",
  sameAddress: (a, b) => a.trim() === b.trim(),
};
type Iou = { serial: string; drawer: string; bearer: string; shells: string; seal: string };
const sealOf = ({ serial, drawer, bearer, shells }: Omit<Iou, "seal">) =>
  createHmac("sha256", drawer).update(`${serial} ${bearer} ${shells}`).digest("hex");
const spent = new Set<string>();

const MOON_RAIL: RailKind = {
  ...IOU,
  isPaymentKey: (text) => text.startsWith("moon:serial/"),
  isTransactionId: (text) => /^crater-\d+$/.test(text),
  canonical: (text) => text.trim(),
  open: (): Rail => ({
    ...IOU,
    extra: { tide: "low" },
    isNetwork: (network) => network === IOU.network || network === IOU.optionNetwork,
    read(payload) {
      const { serial, drawer, bearer, shells } = payload.payload as Iou;
      if (!/^\d{8}$/.test(serial)) throw new PaymentRefused("the IOU has no serial number");
      const key = `moon:serial/${serial}`;
      const terms = { payer: drawer, payTo: bearer, amount: BigInt(shells), asset: IOU.asset };
      return { rail: IOU.name, key, aliases: [], ...terms, payload, wire: payload.payload };
    },
    signature: async ({ wire }) => (sealOf(wire as Iou) === wire.seal ? "valid" : "invalid"),
    onChain: async () => false,
    checkLayout: async () => {},
    async check({ amount }, requirement) {
      if (amount !== BigInt(requirement.amount)) throw new PaymentRefused(`the IOU is over ${amount} shells`);
    },
    payeeFault: async (payTo) => (payTo === "" ? "lives nowhere" : undefined),
    balance: async () => 1_000_000n,
    standing: async ({ key }) =>
      spent.has(key) ? { state: "paid", transaction: "crater-7", height: 7, final: true } : { state: "open" },
    spent: async ({ key }) => spent.has(key),
    news: async () => {},
  }),
};

/** The registry with one line more. */
const KINDS = [...RAILS, MOON_RAIL];

describe("a rail that is added by a line in the registry", () => {
  let facilitator: Upstream;
  let rails: Rail[];
  let offers: Offers;
  beforeAll(async () => {
    facilitator = await Upstream.start((request, response) => {
      const { pathname } = new URL(request.url ?? "", "http://facilitator");
      if (pathname === "/supported") {
        const extra = { feePayer: "man-in-the-moon" };
        return json(response, { kinds: [{ x402Version: 2, scheme: "exact", network: IOU.network, extra }] });
      }
      const { paymentPayload } = JSON.parse(request.body.toString()) as { paymentPayload: PaymentPayload };
      const { serial } = paymentPayload.payload as Iou;
      if (pathname === "/verify") return json(response, { isValid: paymentPayload.accepted.network === IOU.network });
      spent.add(`moon:serial/${serial}`);
      json(response, { success: true, transaction: "crater-7", network: IOU.network });
    });
    rails = await openRails(context(), KINDS);
    const settings = { moon: { payTo: "us", facilitator: { url: facilitator.url } } };
    const { enabled, payees } = enableRails(rails, settings, pino({ level: "silent" }));
    await payees.refresh(soon());
    expect(payees.faults()).toEqual([]);
    offers = new Offers({ rails: enabled, price: 1_000n, maxTimeoutSeconds: 60, now: Date.now });
    await offers.refresh(soon());
  });
  afterAll(() => facilitator.close());

  const soon = () => AbortSignal.timeout(5_000);
  const offer = () => offers.for("base")[0] as PaymentRequirements;
  const paying = (over: Partial<Iou> = {}): PaymentPayload => {
    const iou = { serial: "00000042", drawer: "Selene", bearer: "us", shells: "1000", ...over };
    return { x402Version: 2, accepted: offer(), payload: { ...iou, seal: sealOf(iou), ...over } };
  };
  const railFor = ({ accepted }: PaymentPayload) => rails.find((rail) => rail.isNetwork(accepted.network)) as Rail;

  test("is offered where it pays, and listed with what its facilitator adds", () => {
    const extra = { tide: "low" };
    expect(offers.for("base")).toEqual([
      {
        scheme: "exact",
        network: IOU.network,
        asset: "shells",
        amount: "1000",
        payTo: "us",
        maxTimeoutSeconds: 60,
        extra: { ...extra, feePayer: "man-in-the-moon" },
      },
    ]);
    expect(offers.for("algorand")).toEqual([]);
    expect(offers.optionsFor("base")).toMatchObject([{ network: "the-moon", priceUsdc: "0.001" }]);
    expect(offers.listed).toEqual(offers.termsFor(undefined));
  });

  test("matches a payment with its offer and checks it; what does not fit is refused", async () => {
    const payment = paying();
    const rail = railFor(payment);
    expect(offers.match(payment, rail.name, "base")).toEqual(offer());
    const read = rail.read(payment);
    expect(await rail.signature(read)).toBe("valid");
    await rail.check(read, offer());
    expect(await rail.signature(rail.read(paying({ seal: "broken" })))).toBe("invalid");
    await expect(rail.check(rail.read(paying({ shells: "999" })), offer())).rejects.toThrow(PaymentRefused);
    expect(() => offers.match(payment, rail.name, "algorand")).toThrow("cannot be paid on moon:sea-of-tranquility");
    const elsewhere = { ...payment, accepted: { ...payment.accepted, payTo: "them" } };
    expect(() => offers.match(elsewhere, rail.name, "base")).toThrow("accepted.payTo is not us");
  });

  test("has a payment key that comes back from what is stored, and that no other rail claims", () => {
    const payment = paying();
    const { key } = railFor(payment).read(payment);
    const stored = JSON.parse(JSON.stringify(payment)) as PaymentPayload;
    expect(railFor(stored).read(stored).key).toBe(key);
    expect(KINDS.filter(({ isPaymentKey }) => isPaymentKey(key))).toEqual([MOON_RAIL]);
    expect(KINDS.filter(({ isTransactionId }) => isTransactionId("crater-7"))).toEqual([MOON_RAIL]);
  });

  test("is settled by its facilitator, and paid when its own chain says so", async () => {
    const payment = paying();
    const rail = railFor(payment);
    const read = rail.read(payment);
    const { facilitator } = offers.enabled(rail.name) ?? expect.fail("the rail is not enabled");
    const forwarded = forwardedPayment(read, offer(), { url: "https://attestd.example/attest", description: "" });
    expect(await rail.standing(read, soon())).toEqual({ state: "open" });
    expect(await facilitator.verify(forwarded, offer(), soon())).toEqual({ valid: true });
    expect(await facilitator.settle(forwarded, offer(), soon())).toEqual({ success: true });
    expect(await rail.standing(read, soon())).toMatchObject({ state: "paid", transaction: "crater-7" });
  });
});

/** Enough for the other rails to open: they have no nodes, and are switched off. */
function context(): RailContext {
  const none = { rules: { onConflict: () => undefined } };
  const genesisHash = Buffer.alloc(32, 7).toString("base64");
  return {
    config: { algorand: { genesisHash }, rails: {}, limits: {}, sandbox: true },
    nodes: {
      algorand: { ...none, algods: [], indexers: [] },
      base: { ...none, rpcs: [] },
      solana: { ...none, rpcs: [] },
    },
  } as unknown as RailContext;
}
