import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import algosdk from "algosdk";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serviceError } from "../../../test/errors.ts";
import { ASSET, type Iou, NETWORK, sealOf } from "../../../test/fakes/moon/iou.ts";
import { MOON_RAIL, moonChain, moonSettings } from "../../../test/fakes/moon/kind.ts";
import { startMoon } from "../../../test/fakes/moon/node.ts";
import { taken } from "../../../test/fakes/taken.ts";
import { merged, secret, settingsOf, type Table } from "../../../test/settings.ts";
import { findPayment } from "../../audit/find-payment.ts";
import { type Config, ownSettings, readConfig } from "../../config/config.ts";
import { describedSettings } from "../../config/print.ts";
import { systemClock } from "../../lib/clock.ts";
import { openNodes } from "../../networks/nodes.ts";
import { readableChains } from "../../networks/readable-chains.ts";
import { enableRails } from "../enabled-rail.ts";
import { createOffers, type Offers } from "../offers.ts";
import { forwardedPayment } from "../resource.ts";
import { ANY_SALE, saleOn } from "../sale.ts";
import type { Rail } from "./rail.ts";
import type { RailContext, RailKind } from "./rail-kind.ts";
import { openRails, ownTables, RAILS } from "./registry.ts";

/* The Moon is a rail that there is not (test/fakes/moon): one more line in the registry, as long as this file runs. */

const KINDS = RAILS as RailKind[];
const log = pino({ level: "silent" });

describe("a rail that is added by a line in the registry", () => {
  let moon: Awaited<ReturnType<typeof startMoon>>;
  let config: Config;
  let rails: Rail[];
  let offers: Offers;
  beforeAll(async () => {
    KINDS.push(MOON_RAIL as RailKind);
    moon = await startMoon();
    config = read({ ...sold(moon.url), chains: { moon: { rpc: [moon.url] } } });
    const nodes = openNodes(config, log);
    rails = await openRails(nodes.rail, { config, clock: systemClock } as RailContext);
    const { enabled, payees } = enableRails(rails, { moon: config.rails.moon }, log);
    await payees.refresh(soon());
    expect(payees.faults()).toEqual([]);
    offers = createOffers({ itemPrice: 100n, rails: enabled, maxTimeoutSeconds: 60, now: Date.now });
    await offers.refresh(soon());
  });
  afterAll(() => {
    KINDS.splice(KINDS.indexOf(MOON_RAIL as RailKind), 1);
    return moon.close();
  });

  const soon = () => AbortSignal.timeout(5_000);
  const offer = () => offers.for(saleOn("algorand"))[0] as PaymentRequirements;
  const paying = (over: Partial<Iou> = {}): PaymentPayload => {
    const iou = { serial: "00000042", drawer: "Selene", bearer: "us", shells: "1000", ...over };
    return { x402Version: 2, accepted: offer(), payload: { ...iou, seal: sealOf(iou), ...over } };
  };
  const railFor = ({ accepted }: PaymentPayload) => rails.find((rail) => rail.isNetwork(accepted.network)) as Rail;

  test("has settings of its own, which are checked, and defaults", () => {
    expect(ownSettings(read({}), moonChain)).toEqual({ rpc: [{ url: "http://moon.example" }] });
    expect(ownSettings(read({}), moonSettings)).toMatchObject({ max_shells: 2_000 });
    expect(read({}).rails.moon).toBeUndefined();
    const keys = describedSettings(ownTables()).map(({ key }) => key);
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
    expect(offers.for(saleOn("algorand"))).toEqual([
      {
        scheme: "exact",
        network: NETWORK,
        asset: ASSET,
        amount: "1000",
        payTo: "us",
        maxTimeoutSeconds: 60,
        extra: { ...extra, feePayer: "man-in-the-moon" },
      },
    ]);
    expect(offers.for(saleOn("base"))).toEqual([]);
    expect(offers.optionsFor(saleOn("algorand"))).toMatchObject([{ network: "the-moon", priceUsdc: "0.001" }]);
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
    expect(taken(offers.match(payment, rail.name, saleOn("algorand"))).requirement).toEqual(offer());
    const read = rail.read(payment);
    expect(await rail.signature(read)).toBe("valid");
    await rail.check(read, offer(), AbortSignal.timeout(10_000));
    expect(await rail.signature(rail.read(paying({ seal: "broken" })))).toBe("invalid");
    await expect(
      rail.check(rail.read(paying({ shells: "999" })), offer(), AbortSignal.timeout(10_000)),
    ).rejects.toThrow(serviceError("payment_refused"));
    expect(() => taken(offers.match(payment, rail.name, saleOn("base")))).toThrow(
      "cannot be paid on moon:sea-of-tranquility",
    );
    const elsewhere = { ...payment, accepted: { ...payment.accepted, payTo: "them" } };
    expect(() => taken(offers.match(elsewhere, rail.name, saleOn("algorand")))).toThrow("accepted.payTo is not us");
  });

  test("has a payment key that is the same when it is read from storage, and that no other rail recognises", () => {
    const payment = paying();
    const { key } = railFor(payment).read(payment);
    const stored = JSON.parse(JSON.stringify(payment)) as PaymentPayload;
    expect(railFor(stored).read(stored).key).toBe(key);
    expect(KINDS.filter(({ isPaymentKey }) => isPaymentKey(key))).toEqual([MOON_RAIL]);
    expect(KINDS.filter(({ isTransactionId }) => isTransactionId("crater-1"))).toEqual([MOON_RAIL]);
  });

  test("is settled by its facilitator, paid when its own chain shows it, and found there by an operator", async () => {
    const payment = paying();
    const rail = railFor(payment);
    const read = rail.read(payment);
    const [{ facilitator } = expect.fail("there is no facilitator")] = taken(
      offers.match(payment, rail.name, saleOn("algorand")),
    ).settlers;
    const forwarded = forwardedPayment(read, offer(), { url: "https://attestd.example/attest", description: "" });
    expect(await rail.status(read, soon())).toEqual({ state: "open" });
    expect(await facilitator.verify(forwarded, offer(), soon())).toEqual({ valid: true });
    expect(await facilitator.settle(forwarded, offer(), soon())).toEqual({ success: true });
    expect(await rail.status(read, soon())).toMatchObject({ state: "paid", transaction: "crater-1" });

    const { readers } = readableChains(config, log, soon());
    const search = { journal: { payees: async () => [{ rail: "moon", address: "us" }] }, readers, since: 0 };
    const found = { key: read.key, transaction: "crater-1", payer: "Selene", amount: 1000n };
    expect(await findPayment("crater-1", search)).toMatchObject(found);
    expect(await findPayment(read.key, search)).toMatchObject(found);
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
  return readConfig(settingsOf(merged(tables, over)), { sandbox: false, own: ownTables() });
}
