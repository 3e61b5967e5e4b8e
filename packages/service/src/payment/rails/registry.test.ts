import { createHmac } from "node:crypto";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import algosdk from "algosdk";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { serviceError } from "../../../test/errors.ts";
import { json, Upstream } from "../../../test/fakes/providers.ts";
import { merged, secret, settingsOf, type Table } from "../../../test/settings.ts";
import { type Config, ownSettings, readConfig } from "../../config/config.ts";
import { nodes, whole } from "../../config/formats.ts";
import type { ChainTable, RailTable } from "../../config/own-tables.ts";
import { describedSettings } from "../../config/print.ts";
import { openNodes } from "../../networks/nodes.ts";
import { enableRails } from "../enabled-rail.ts";
import { createOffers, type Offers } from "../offers.ts";
import { forwardedPayment } from "../resource.ts";
import { ANY_SALE, saleOn } from "../sale.ts";
import { paymentRefused, type Rail, type RailFacts } from "./rail.ts";
import type { RailContext, RailKind } from "./rail-kind.ts";
import { openRails, ownTables, RAILS } from "./registry.ts";

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

const chain = { name: "moon", own: z.strictObject({ rpc: nodes.optional() }) } satisfies ChainTable;
const settings = {
  name: "moon",
  payTo: z.string(),
  chain,
  own: z.strictObject({ max_shells: whole(1, 5_000).default(2_000) }),
} satisfies RailTable;

const MOON_RAIL: RailKind<{ urls: string[] }> = {
  ...IOU,
  label: "the Moon",
  unsigned: {},
  reader: () => undefined,
  settings,
  connect: ({ config }) => ({ urls: (ownSettings(config, chain).rpc ?? []).map(({ url }) => url) }),
  isPaymentKey: (text) => text.startsWith("moon:serial/"),
  isTransactionId: (text) => /^crater-\d+$/.test(text),
  canonical: (text) => text.trim(),
  isNetwork: (network) => network === IOU.network || network === IOU.optionNetwork,
  open: (nodes, { config }): Rail => ({
    ...IOU,
    extra: { tide: "low" },
    isNetwork: (network) => network === IOU.network || network === IOU.optionNetwork,
    read(payload) {
      const { serial, drawer, bearer, shells } = payload.payload as Iou;
      if (!/^\d{8}$/.test(serial)) throw paymentRefused("the IOU has no serial number");
      const key = `moon:serial/${serial}`;
      const terms = { payer: drawer, payTo: bearer, amount: BigInt(shells), asset: IOU.asset };
      return { rail: IOU.name, key, aliases: [], ...terms, payload, wire: payload.payload };
    },
    signature: async ({ wire }) => (sealOf(wire as Iou) === wire.seal ? "valid" : "invalid"),
    onChain: async () => false,
    checkLayout: async () => {},
    async check({ amount }, requirement) {
      if (amount > ownSettings(config, settings).max_shells) throw paymentRefused("the IOU is too large");
      if (amount !== BigInt(requirement.amount)) throw paymentRefused(`the IOU is over ${amount} shells`);
    },
    payeeFault: async () => (nodes.urls.includes("http://moon.example") ? undefined : "lives nowhere"),
    balance: async () => 1_000_000n,
    status: async ({ key }) =>
      spent.has(key) ? { state: "paid", transaction: "crater-7", height: 7, final: true } : { state: "open" },
    spent: async ({ key }) => spent.has(key),
    news: async () => {},
  }),
};

/** The registry with one more line. */
const KINDS = [...RAILS, MOON_RAIL];
const log = pino({ level: "silent" });

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
    const config = read(sold(facilitator.url));
    const nodes = openNodes(config, log, KINDS);
    rails = await openRails(nodes.rail, { config } as RailContext, KINDS);
    const { enabled, payees } = enableRails(rails, { moon: config.rails.moon }, log);
    await payees.refresh(soon());
    expect(payees.faults()).toEqual([]);
    offers = createOffers({ itemPrice: 100n, rails: enabled, maxTimeoutSeconds: 60, now: Date.now });
    await offers.refresh(soon());
  });
  afterAll(() => facilitator.close());

  const soon = () => AbortSignal.timeout(5_000);
  const offer = () => offers.for(saleOn("base"))[0] as PaymentRequirements;
  const paying = (over: Partial<Iou> = {}): PaymentPayload => {
    const iou = { serial: "00000042", drawer: "Selene", bearer: "us", shells: "1000", ...over };
    return { x402Version: 2, accepted: offer(), payload: { ...iou, seal: sealOf(iou), ...over } };
  };
  const railFor = ({ accepted }: PaymentPayload) => rails.find((rail) => rail.isNetwork(accepted.network)) as Rail;

  test("has settings of its own, which are checked, and defaults", () => {
    expect(ownSettings(read({}), chain)).toEqual({ rpc: [{ url: "http://moon.example" }] });
    expect(ownSettings(read({}), settings)).toMatchObject({ max_shells: 2_000 });
    expect(read({}).rails.moon).toBeUndefined();
    const keys = describedSettings(ownTables(KINDS)).map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(["chains.moon.rpc", "rails.moon.pay_to", "rails.moon.max_shells"]));
    const moon = (over: Table) => read({ rails: { moon: over } });
    expect(() => moon({ max_shells: 0 })).toThrow("rails.moon.max_shells must be at least 1.");
    expect(() => moon({ max_shell: 1 })).toThrow(
      "rails.moon.max_shell is not a setting of attestd. Did you mean rails.moon.max_shells?",
    );
    expect(() => moon({ pay_to: "us" })).toThrow(
      'rails.moon.pay_to is set, but no [[facilitators]] table has "moon" in its rails.',
    );
    const away = { ...sold("https://moon.example"), chains: { moon: { rpc: undefined } } };
    expect(() => read(away)).toThrow("rails.moon.pay_to is set, but chains.moon.rpc is not.");
  });

  test("is offered where it pays, and listed with what its facilitator adds", () => {
    const extra = { tide: "low" };
    expect(offers.for(saleOn("base"))).toEqual([
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
    expect(offers.for(saleOn("algorand"))).toEqual([]);
    expect(offers.optionsFor(saleOn("base"))).toMatchObject([{ network: "the-moon", priceUsdc: "0.001" }]);
    expect(offers.listedFor(ANY_SALE)).toEqual(offers.termsFor(ANY_SALE));
  });

  test("reads a payload once, however many steps of its call need it, and what is refused each time", () => {
    const payment = paying();
    const rail = railFor(payment);
    const read = rail.read(payment);
    expect(rail.read(payment)).toBe(read);
    expect(rail.read(structuredClone(payment))).not.toBe(read);
    const unnumbered = paying({ serial: "none" });
    for (let time = 0; time < 2; time++) expect(() => rail.read(unnumbered)).toThrow(serviceError("payment_refused"));
  });

  test("matches a payment with its offer and checks it; what does not fit is refused", async () => {
    const payment = paying();
    const rail = railFor(payment);
    expect(offers.match(payment, rail.name, saleOn("base")).requirement).toEqual(offer());
    const read = rail.read(payment);
    expect(await rail.signature(read)).toBe("valid");
    await rail.check(read, offer(), AbortSignal.timeout(10_000));
    expect(await rail.signature(rail.read(paying({ seal: "broken" })))).toBe("invalid");
    await expect(
      rail.check(rail.read(paying({ shells: "999" })), offer(), AbortSignal.timeout(10_000)),
    ).rejects.toThrow(serviceError("payment_refused"));
    expect(() => offers.match(payment, rail.name, saleOn("algorand"))).toThrow(
      "cannot be paid on moon:sea-of-tranquility",
    );
    const elsewhere = { ...payment, accepted: { ...payment.accepted, payTo: "them" } };
    expect(() => offers.match(elsewhere, rail.name, saleOn("base"))).toThrow("accepted.payTo is not us");
  });

  test("has a payment key that is the same when it is read from storage, and that no other rail recognises", () => {
    const payment = paying();
    const { key } = railFor(payment).read(payment);
    const stored = JSON.parse(JSON.stringify(payment)) as PaymentPayload;
    expect(railFor(stored).read(stored).key).toBe(key);
    expect(KINDS.filter(({ isPaymentKey }) => isPaymentKey(key))).toEqual([MOON_RAIL]);
    expect(KINDS.filter(({ isTransactionId }) => isTransactionId("crater-7"))).toEqual([MOON_RAIL]);
  });

  test("is settled by its facilitator, and paid when its own chain shows it", async () => {
    const payment = paying();
    const rail = railFor(payment);
    const read = rail.read(payment);
    const [{ facilitator } = expect.fail("there is no facilitator")] = offers.match(
      payment,
      rail.name,
      saleOn("base"),
    ).settlers;
    const forwarded = forwardedPayment(read, offer(), { url: "https://attestd.example/attest", description: "" });
    expect(await rail.status(read, soon())).toEqual({ state: "open" });
    expect(await facilitator.verify(forwarded, offer(), soon())).toEqual({ valid: true });
    expect(await facilitator.settle(forwarded, offer(), soon())).toEqual({ success: true });
    expect(await rail.status(read, soon())).toMatchObject({ state: "paid", transaction: "crater-7" });
  });
});

/** The settings with which the rail is enabled. */
function sold(facilitator: string) {
  const facilitators = [
    { url: "http://facilitator.example", rails: ["algorand"] },
    { url: facilitator, rails: ["moon"] },
  ];
  return { rails: { moon: { pay_to: "us" } }, facilitators };
}

/** Reads the settings of a service whose only other rail is Algorand's, which is always enabled. */
function read(over: Table): Config {
  const tables = {
    journal: { url: "sqlite:/var/lib/attestd/journal.sqlite" },
    chains: {
      algorand: { algod: ["http://algod.example"], indexer: ["http://indexer.example"] },
      moon: { rpc: ["http://moon.example"] },
    },
    attestor: {
      mnemonic: secret(algosdk.mnemonicFromSeed(new Uint8Array(32))),
      pq_seed: secret("0".repeat(64)),
    },
    rails: { algorand: { pay_to: algosdk.encodeAddress(new Uint8Array(32).fill(7)) } },
    facilitators: [{ url: "http://facilitator.example", rails: ["algorand"] }],
  };
  return readConfig(settingsOf(merged(tables, over)), { sandbox: false, own: ownTables(KINDS) });
}
