import { formatUsdc } from "@attestd/proof/rails";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { describe, expect, test } from "vitest";
import { serviceError } from "../../test/errors.ts";
import { taken } from "../../test/fakes/taken.ts";
import type { EnabledFacilitator, EnabledRail } from "./enabled-rail.ts";
import { type Facilitator, facilitatorFailed } from "./facilitator.ts";
import { createOffers, type Offers } from "./offers.ts";
import type { Rail } from "./rails/rail.ts";
import { Refusal } from "./refusal.ts";
import { ANY_SALE, saleOn } from "./sale.ts";

type RailName = "algorand" | "base" | "solana";

const NETWORKS: Record<RailName, string> = {
  algorand: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
  base: "eip155:8453",
  solana: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
};

/** The fee payer that facilitators currently name; tests change it. */
let feePayer = "FEE-1";
let clock = 0;

const at = (url: string, facilitator: Facilitator): EnabledFacilitator => ({ id: url, url, facilitator });

function enabled(name: RailName): EnabledRail {
  const rail = {
    name,
    network: NETWORKS[name],
    ...(name === "algorand" && { optionNetwork: "algorand-mainnet" }),
    paysFor: (source) => name === "algorand" || source !== "algorand",
    asset: `asset of ${name}`,
    extra: name === "base" ? { name: "USD Coin", version: "2" } : {},
    isNetwork: (network: string) => network === NETWORKS[name],
    sameAddress: (a: string, b: string) => a.toLowerCase() === b.toLowerCase(),
  } as Rail;
  const facilitator = {
    supported: async () => [{ network: NETWORKS[name], extra: name === "base" ? {} : { feePayer } }],
  } as unknown as Facilitator;
  return {
    rail,
    payTo: `payee on ${name}`,
    price: 1_000n,
    facilitators: [at("https://facilitator.example", facilitator)],
  };
}

async function offersOf(...names: RailName[]): Promise<Offers> {
  feePayer = "FEE-1";
  clock = 0;
  const offers = createOffers({ itemPrice: 100n, rails: names.map(enabled), maxTimeoutSeconds: 120, now: () => clock });
  await offers.refresh(AbortSignal.timeout(1000));
  return offers;
}

const accepting = (accepted: PaymentRequirements): PaymentPayload => ({ x402Version: 2, accepted, payload: {} });

describe("offers", () => {
  test("follow the source: Algorand takes its own rail, Base its own first and then the others that are on", async () => {
    const all = await offersOf("algorand", "base", "solana");
    const rails = (offers: Offers, chain?: "algorand" | "base") =>
      offers.for(chain ? saleOn(chain) : ANY_SALE).map(({ network }) => network);
    expect(rails(all, "algorand")).toEqual([NETWORKS.algorand]);
    expect(rails(all, "base")).toEqual([NETWORKS.base, NETWORKS.algorand, NETWORKS.solana]);
    expect(rails(all)).toEqual([NETWORKS.algorand, NETWORKS.base, NETWORKS.solana]);
    expect(rails(await offersOf("algorand"), "base")).toEqual([NETWORKS.algorand]);
  });

  test("are pure x402, and are the same offers in the interface's own fields", async () => {
    const offers = await offersOf("algorand", "base");
    expect(offers.for(saleOn("base"))[0]).toEqual({
      scheme: "exact",
      network: "eip155:8453",
      asset: "asset of base",
      amount: "1000",
      payTo: "payee on base",
      maxTimeoutSeconds: 120,
      extra: { name: "USD Coin", version: "2" },
    });
    expect(offers.optionsFor(saleOn("algorand"))).toEqual([
      {
        scheme: "exact",
        network: "algorand-mainnet",
        asset: "asset of algorand",
        payTo: "payee on algorand",
        maxAmountRequired: "1000",
        priceUsdc: "0.001",
        facilitatorUrl: "https://facilitator.example",
      },
    ]);
  });

  test("have the price of their rail, which a payment must have accepted", async () => {
    const dearer = createOffers({
      itemPrice: 100n,
      rails: [enabled("algorand"), { ...enabled("base"), price: 2_500n }],
      maxTimeoutSeconds: 120,
      now: () => 0,
    });
    await dearer.refresh(AbortSignal.timeout(1000));
    expect(dearer.for(saleOn("base")).map(({ amount }) => amount)).toEqual(["2500", "1000"]);
    expect(dearer.listedFor(ANY_SALE).map(({ priceUsdc }) => priceUsdc)).toEqual(["0.001", "0.0025"]);
    const [offer] = dearer.for(saleOn("base")) as [PaymentRequirements];
    expect(taken(dearer.match(accepting(offer), "base", saleOn("base"))).requirement.amount).toBe("2500");
    expect(() => taken(dearer.match(accepting({ ...offer, amount: "1000" }), "base", saleOn("base")))).toThrow(
      "is not 2500, as offered",
    );
  });

  test("are matched field by field, and our own requirement is returned", async () => {
    const offers = await offersOf("algorand");
    const [offer] = offers.for(saleOn("algorand")) as [PaymentRequirements];
    const spelt = { ...offer, payTo: offer.payTo.toUpperCase(), maxTimeoutSeconds: 999 };
    expect(taken(offers.match(accepting(spelt), "algorand", saleOn("algorand"))).requirement).toEqual(offer);
    for (const change of [{ amount: "999" }, { asset: "other" }, { payTo: "stranger" }, { scheme: "upto" }])
      expect(() => taken(offers.match(accepting({ ...offer, ...change }), "algorand", saleOn("algorand")))).toThrow(
        `accepted.${Object.keys(change)[0]} is not`,
      );
    expect(offers.match(accepting(offer), "base", saleOn("algorand"))).toBeInstanceOf(Refusal);
  });

  test("are found under the exact names of the interface", async () => {
    const offers = await offersOf("algorand", "base", "solana");
    for (const [i, option] of offers.optionsFor(saleOn("base")).entries()) {
      const accepted = option as unknown as PaymentRequirements;
      const rail = (["base", "algorand", "solana"] as const)[i] as RailName;
      expect(taken(offers.match(accepting(accepted), rail, saleOn("base"))).requirement).toEqual(
        offers.for(saleOn("base"))[i],
      );
      for (const change of [{ maxAmountRequired: "999" }, { amount: "999" }, { maxAmountRequired: 1000 }])
        expect(() => taken(offers.match(accepting({ ...accepted, ...change }), rail, saleOn("base")))).toThrow(
          "is not 1000, as offered",
        );
    }
  });

  test("accept a former fee payer for as long as its offer was valid", async () => {
    const offers = await offersOf("algorand");
    const [before] = offers.for(saleOn("algorand")) as [PaymentRequirements];
    feePayer = "FEE-2";
    clock = 50_000;
    await offers.refresh(AbortSignal.timeout(1000));
    const [after] = offers.for(saleOn("algorand")) as [PaymentRequirements];
    expect(after.extra.feePayer).toBe("FEE-2");
    clock = 50_000 + 119_000;
    expect(taken(offers.match(accepting(before), "algorand", saleOn("algorand"))).requirement.extra.feePayer).toBe(
      "FEE-1",
    );
    clock = 50_000 + 121_000;
    expect(() => taken(offers.match(accepting(before), "algorand", saleOn("algorand")))).toThrow(
      "feePayer was not offered",
    );
    expect(() =>
      taken(offers.match(accepting({ ...after, extra: { feePayer: "MINE" } }), "algorand", saleOn("algorand"))),
    ).toThrow();
  });

  describe("of a rail on which nothing can be sold", () => {
    /** Makes offers on two rails; the test makes Base's facilitator. */
    function offersWith(over: Partial<EnabledRail>, heard: (string | undefined)[] = []): Offers {
      feePayer = "FEE-1";
      const rails = [enabled("algorand"), { ...enabled("base"), ...over }];
      const onChange = (network: string, unavailableReason: string | undefined) =>
        heard.push(`${network} ${unavailableReason}`);
      return createOffers({ itemPrice: 100n, rails, maxTimeoutSeconds: 120, now: () => 0, onChange });
    }
    const soon = () => AbortSignal.timeout(1_000);
    const networks = (offers: Offers) => offers.for(saleOn("base")).map(({ network }) => network);

    test("begin once its facilitator has answered; those of other rails do not wait", async () => {
      let isThere = false;
      const supported = async () => {
        if (!isThere) throw facilitatorFailed("the facilitator gave no answer");
        return [{ network: NETWORKS.base, extra: {} }];
      };
      const offers = offersWith({ facilitators: [at("https://f.example", { supported } as unknown as Facilitator)] });
      await offers.refresh(soon());
      expect(networks(offers)).toEqual([NETWORKS.algorand]);
      expect(offers.optionsFor(saleOn("base")).map(({ network }) => network)).toEqual(["algorand-mainnet"]);
      expect(offers.termsFor(saleOn("base")).map(({ network }) => network)).toEqual([
        NETWORKS.base,
        "algorand-mainnet",
      ]);
      expect(offers.unavailable()).toEqual([
        { network: NETWORKS.base, unavailableReason: "the facilitator has not yet listed what it settles" },
      ]);
      isThere = true;
      await offers.refresh(soon());
      expect(networks(offers)).toEqual([NETWORKS.base, NETWORKS.algorand]);
      isThere = false;
      await offers.refresh(soon());
      expect(networks(offers)).toEqual([NETWORKS.base, NETWORKS.algorand]);
    });

    test("are not made while there is a reason against it, which is reported once", async () => {
      let unavailableReason: string | undefined;
      const heard: string[] = [];
      const offers = offersWith({ unavailableReason: () => unavailableReason }, heard);
      await offers.refresh(soon());
      heard.length = 0;
      const [accepted] = offers.for(saleOn("base")) as [PaymentRequirements];
      unavailableReason = "it rains";
      for (let i = 0; i < 3; i++) expect(networks(offers)).toEqual([NETWORKS.algorand]);
      expect(() => taken(offers.match(accepting(accepted), "base", saleOn("base")))).toThrow(
        serviceError("rail_closed"),
      );
      expect(offers.isOpen).toBe(true);
      unavailableReason = undefined;
      for (let i = 0; i < 3; i++) expect(networks(offers)).toEqual([NETWORKS.base, NETWORKS.algorand]);
      expect(heard).toEqual([`${NETWORKS.base} it rains`, `${NETWORKS.base} undefined`]);
    });

    test("are not made without the fee payer that it needs, nor with one that is not an address", async () => {
      for (const extra of [
        {},
        { feePayer: "" },
        { feePayer: "x".repeat(65) },
        { feePayer: "a\r\nb" },
        { feePayer: 7 },
      ]) {
        const { rail } = enabled("base");
        const facilitator = { supported: async () => [{ network: NETWORKS.base, extra }] } as unknown as Facilitator;
        const offers = offersWith({
          rail: { ...rail, needsFeePayer: true },
          facilitators: [at("https://f.example", facilitator)],
        });
        await offers.refresh(soon());
        expect(networks(offers)).toEqual([NETWORKS.algorand]);
      }
    });
  });

  describe("of a rail with two facilitators", () => {
    type Side = {
      feePayer?: string;
      unavailableReason?: string;
      isBusy?: boolean;
      isSettled?: boolean;
      isSilent?: boolean;
    };
    const [A, B] = ["https://a.example", "https://b.example/x402"] as const;
    let sides: Record<string, Side>;
    let switched: string[];
    const soon = () => AbortSignal.timeout(1_000);

    async function offersBy(name: RailName, a: Side, b: Side): Promise<Offers> {
      sides = { [A]: a, [B]: b };
      switched = [];
      clock = 0;
      const facilitators = [A, B].map((url) => {
        const network = () => (sides[url]?.isSettled === false ? "eip155:1" : NETWORKS[name]);
        const extra = () => (sides[url]?.feePayer === undefined ? {} : { feePayer: sides[url]?.feePayer });
        const supported = async () => {
          if (sides[url]?.isSilent) throw facilitatorFailed("away");
          return [{ network: network(), extra: extra() }];
        };
        const unavailableReason = () => sides[url]?.unavailableReason;
        const isBusy = () => sides[url]?.isBusy === true;
        return { ...at(url, { supported } as unknown as Facilitator), unavailableReason, isBusy };
      });
      const rail = { ...enabled(name).rail, isForAnyFacilitator: name === "base" };
      const onSwitch = (_: string, url: string) => switched.push(url);
      const rails = [{ ...enabled(name), rail, facilitators }];
      const offers = createOffers({ itemPrice: 100n, rails, maxTimeoutSeconds: 120, now: () => clock, onSwitch });
      await offers.refresh(soon());
      return offers;
    }
    const feePayerOf = (offers: Offers) => offers.for(saleOn("base"))[0]?.extra.feePayer;
    const settlersOf = (offers: Offers, accepted: PaymentRequirements, rail: RailName) =>
      taken(offers.match(accepting(accepted), rail, saleOn("base"))).settlers.map(({ id }) => id);

    test("name the fee payer of the first that can sell, and follow it when it changes", async () => {
      const offers = await offersBy("solana", { feePayer: "FEE-A" }, { feePayer: "FEE-B" });
      expect([feePayerOf(offers), offers.optionsFor(saleOn("base"))[0]?.facilitatorUrl]).toEqual(["FEE-A", A]);
      sides[A] = { ...sides[A], unavailableReason: "away" };
      expect([feePayerOf(offers), offers.optionsFor(saleOn("base"))[0]?.facilitatorUrl]).toEqual(["FEE-B", B]);
      expect(offers.unavailable()).toEqual([]);
      expect(offers.degraded()).toEqual([{ network: NETWORKS.solana, degradedReason: "a.example: away" }]);
      // Documents are made only once.
      expect(offers.termsFor(saleOn("base"))[0]?.facilitatorUrl).toBe(A);
      sides[A] = { feePayer: "FEE-A" };
      expect(feePayerOf(offers)).toBe("FEE-A");
      expect(switched).toEqual([B, A]);
    });

    test("prefer the one that is not busy, and take the busy one where it is alone", async () => {
      const offers = await offersBy("solana", { feePayer: "FEE-A", isBusy: true }, { feePayer: "FEE-B" });
      expect(feePayerOf(offers)).toBe("FEE-B");
      sides[B] = { feePayer: "FEE-B", unavailableReason: "away" };
      expect(feePayerOf(offers)).toBe("FEE-A");
    });

    test("are settled by the one whose fee payer the payment accepted, and by no other", async () => {
      const offers = await offersBy("solana", { feePayer: "FEE-A" }, { feePayer: "FEE-B" });
      const [byA] = offers.for(saleOn("base")) as [PaymentRequirements];
      const byB = { ...byA, extra: { feePayer: "FEE-B" } };
      expect([byA, byB].map((accepted) => settlersOf(offers, accepted, "solana"))).toEqual([[A], [B]]);
      expect(taken(offers.match(accepting(byB), "solana", saleOn("base"))).requirement).toEqual(byB);
      sides[A] = { feePayer: "FEE-A", unavailableReason: "away" };
      expect(() => taken(offers.match(accepting(byA), "solana", saleOn("base")))).toThrow(serviceError("rail_closed"));
      expect(settlersOf(offers, byB, "solana")).toEqual([B]);
    });

    test("are settled by each that names the payment's fee payer, and without one by each that names none", async () => {
      const shared = await offersBy("solana", { feePayer: "FEE" }, { feePayer: "FEE" });
      const [offer] = shared.for(saleOn("base")) as [PaymentRequirements];
      expect(settlersOf(shared, offer, "solana")).toEqual([A, B]);
      sides[A] = { feePayer: "FEE", unavailableReason: "away" };
      expect(settlersOf(shared, offer, "solana")).toEqual([B]);
      const free = await offersBy("algorand", {}, {});
      expect(settlersOf(free, free.for(saleOn("base"))[0] as PaymentRequirements, "algorand")).toEqual([A, B]);
      const one = await offersBy("algorand", {}, { feePayer: "FEE-B" });
      expect(settlersOf(one, one.for(saleOn("base"))[0] as PaymentRequirements, "algorand")).toEqual([A]);
    });

    test("refuse no fee payer while one of them has not said whom it names", async () => {
      const offers = await offersBy("solana", { feePayer: "FEE-A" }, { feePayer: "FEE-B", isSilent: true });
      const [byA] = offers.for(saleOn("base")) as [PaymentRequirements];
      const byB = { ...byA, extra: { feePayer: "FEE-B" } };
      expect(() => taken(offers.match(accepting(byB), "solana", saleOn("base")))).toThrow(serviceError("rail_closed"));
      expect(settlersOf(offers, byA, "solana")).toEqual([A]);
      sides[B] = { feePayer: "FEE-B" };
      await offers.refresh(soon());
      expect(settlersOf(offers, byB, "solana")).toEqual([B]);
      const byNobody = { ...byA, extra: { feePayer: "FEE-C" } };
      expect(() => taken(offers.match(accepting(byNobody), "solana", saleOn("base")))).toThrow(
        "feePayer was not offered",
      );
    });

    test("are settled by any that can sell, in order, where the payment names no fee payer", async () => {
      const offers = await offersBy("base", {}, {});
      const [offer] = offers.for(saleOn("base")) as [PaymentRequirements];
      expect(settlersOf(offers, offer, "base")).toEqual([A, B]);
      sides[A] = { isBusy: true };
      expect(settlersOf(offers, offer, "base")).toEqual([B, A]);
      sides[A] = { unavailableReason: "away" };
      expect(settlersOf(offers, offer, "base")).toEqual([B]);
    });

    test("are settled by one alone on any rail, if that one names a fee payer", async () => {
      const offers = await offersBy("base", { feePayer: "FEE-A" }, { feePayer: "FEE-B" });
      expect(settlersOf(offers, offers.for(saleOn("base"))[0] as PaymentRequirements, "base")).toEqual([A]);
    });

    test("end when neither can sell, with the reason of each", async () => {
      const offers = await offersBy("base", { unavailableReason: "away" }, { unavailableReason: "late" });
      const unavailableReason = "a.example: away; b.example: late";
      expect(offers.unavailable()).toEqual([{ network: NETWORKS.base, unavailableReason }]);
      expect(offers.for(saleOn("base"))).toEqual([]);
    });

    test("do without one that does not settle the rail; the service starts while the other does", async () => {
      const offers = await offersBy("base", { isSettled: false }, {});
      expect(offers.optionsFor(saleOn("base"))[0]?.facilitatorUrl).toBe(B);
      expect(offers.degraded()[0]?.degradedReason).toBe("a.example: the facilitator does not settle it any more");
      sides[B] = { isSettled: false };
      await expect(offers.refresh(soon())).rejects.toThrow(`${A}, ${B} does not settle`);
    });
  });

  test("need a facilitator that settles the rail", async () => {
    const one = enabled("algorand");
    const facilitator = { supported: async () => [{ network: "eip155:1", extra: {} }] } as unknown as Facilitator;
    const offers = createOffers({
      itemPrice: 100n,
      rails: [{ ...one, facilitators: [at("https://f.example", facilitator)] }],
      maxTimeoutSeconds: 120,
      now: () => 0,
    });
    await expect(offers.refresh(AbortSignal.timeout(1000))).rejects.toThrow("does not settle");
  });
});

test("a price is written as a decimal number of USDC", () => {
  expect([1n, 1000n, 10_000n, 1_000_000n, 1_500_000n].map(formatUsdc)).toEqual([
    "0.000001",
    "0.001",
    "0.01",
    "1",
    "1.5",
  ]);
});
