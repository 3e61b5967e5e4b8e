import { describe, expect, test } from "vitest";
import { ALGORAND_OFFER, BASE_OFFER } from "../test/fake-service.ts";
import { chooseOffer } from "./offers.ts";
import type { Wallet } from "./wallet.ts";

const both: Wallet = { payer: () => "PAYER", sign: () => Promise.reject(new Error("not asked for")) };
const baseOnly: Wallet = { ...both, payer: (network) => (network === BASE_OFFER.network ? "0xPAYER" : undefined) };

describe("an offer is chosen", () => {
  test("in the service's order", () => {
    expect(chooseOffer([BASE_OFFER, ALGORAND_OFFER], both, 1000n)).toBe(BASE_OFFER);
    expect(chooseOffer([ALGORAND_OFFER, BASE_OFFER], both, 1000n)).toBe(ALGORAND_OFFER);
  });

  test("among those that the wallet can pay", () => {
    expect(chooseOffer([ALGORAND_OFFER, BASE_OFFER], baseOnly, 1000n)).toBe(BASE_OFFER);
  });

  test("among those that are not too dear", () => {
    const dear = { ...ALGORAND_OFFER, amount: "10001" };
    expect(chooseOffer([dear, BASE_OFFER], both, 10_000n)).toBe(BASE_OFFER);
  });

  test.each([undefined, null])("whose `extra` is %s, as x402 allows", (extra) => {
    const bare = { ...ALGORAND_OFFER, extra: extra as never };
    expect(chooseOffer([bare], both, 1000n)).toBe(bare);
  });

  test("whatever the case of Base's token address", () => {
    const lower = { ...BASE_OFFER, asset: BASE_OFFER.asset.toLowerCase() };
    expect(chooseOffer([lower], both, 1000n)).toBe(lower);
  });
});

describe("no offer is chosen", () => {
  test("above the price allowed, and the error tells the lowest", () => {
    const offers = ["3000", "2000"].map((amount) => ({ ...ALGORAND_OFFER, amount }));
    expect(() => chooseOffer(offers, both, 1999n)).toThrow(
      expect.objectContaining({ code: "price_too_high", price: 2000n }),
    );
  });

  test.each([
    ["another asset", { asset: "123" }, "123 is not USDC"],
    ["another scheme", { scheme: "upto" as const }, "the scheme upto"],
    ["a network that only looks like an object's member", { network: "constructor:x" as const }, "an unknown network"],
    ["TestNet", { network: "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe" as const }, "an unknown network"],
    ["an amount that is no number", { amount: "0x10" }, "the amount"],
    ["nothing to pay", { amount: "0" }, "the amount"],
    ["an allowance instead of a transfer", { extra: { assetTransferMethod: "permit2" } }, "not a plain transfer"],
    ["a payment that stays open for a year", { maxTimeoutSeconds: 31_536_000 }, "stay open"],
  ])("%s", (_, change, reason) => {
    expect(() => chooseOffer([{ ...ALGORAND_OFFER, ...change }], both, 1000n)).toThrow(
      expect.objectContaining({ code: "no_usable_offer", message: expect.stringContaining(reason) }),
    );
  });

  test.each([undefined, null, {}, { name: { toString: 1 }, version: "2" }])(
    "on Base without the token's name and version, which the payer signs: %j",
    (extra) => {
      expect(() => chooseOffer([{ ...BASE_OFFER, extra: extra as never }], both, 1000n)).toThrow(
        expect.objectContaining({ code: "no_usable_offer", message: expect.stringContaining("the token's name") }),
      );
    },
  );

  test("of none", () => {
    expect(() => chooseOffer([], both, 1000n)).toThrow(expect.objectContaining({ code: "no_usable_offer" }));
  });
});
