import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { serviceError } from "../../test/errors.ts";
import { json, Upstream } from "../../test/fakes/providers.ts";
import { httpFacilitator } from "./facilitator.ts";
import { namedAsListed } from "./listed-network.ts";
import { algorandSpellings } from "./rails/algorand/usdc.ts";

/* MainNet's names: by CAIP-2, and as recorded from GoPlausible's `/supported` in September 2026. */
const SHORT = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
const WHOLE = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";
const TESTNET = "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=";
const SPELLINGS = algorandSpellings(WHOLE.slice("algorand:".length));
const RAIL = { network: SHORT, isNetwork: (network: string) => SPELLINGS.has(network) };

const REQUIREMENT = { network: SHORT, amount: "1000" } as unknown as PaymentRequirements;
const PAYMENT = {
  x402Version: 2,
  accepted: REQUIREMENT,
  payload: { paymentGroup: ["AA=="] },
} as unknown as PaymentPayload;
const soon = () => AbortSignal.timeout(5_000);

let upstream: Upstream;
let listed: string[] | undefined;
/** The names in the payments that came: the requirement's, and that of the payment's `accepted`. */
let named: string[][];
beforeAll(async () => {
  upstream = await Upstream.start(({ url, body }, response) => {
    if (url === "/supported") {
      if (!listed) return json(response, { error: "away" }, 503);
      return json(response, { kinds: listed.map((network) => ({ x402Version: 2, scheme: "exact", network })) });
    }
    const { paymentPayload, paymentRequirements } = JSON.parse(body.toString());
    named.push([paymentRequirements.network, paymentPayload.accepted.network]);
    expect(paymentPayload).toEqual({ ...PAYMENT, accepted: paymentRequirements });
    expect(paymentRequirements.amount).toBe("1000");
    // Its answer also has its own spelling.
    json(response, url === "/verify" ? { isValid: true } : { success: true, transaction: "T", network: WHOLE });
  });
});
afterAll(() => upstream.close());
beforeEach(() => {
  named = [];
});
const facilitator = () => namedAsListed(httpFacilitator({ url: upstream.url, auth: { kind: "none" } }), RAIL);

test.each([
  ["the whole genesis hash", [TESTNET, WHOLE], WHOLE],
  ["CAIP-2's name", [SHORT], SHORT],
  ["both", [WHOLE, SHORT], SHORT],
  ["the name of our options", ["algorand-mainnet"], "algorand-mainnet"],
  ["nothing of ours", [TESTNET, "eip155:8453"], SHORT],
])("a facilitator that lists %s is told of payments under it, and its receipt is read", async (_, kinds, name) => {
  listed = kinds;
  const asked = facilitator();
  await asked.supported(soon());
  expect(await asked.verify(PAYMENT, REQUIREMENT, soon())).toEqual({ valid: true });
  expect(await asked.settle(PAYMENT, REQUIREMENT, soon())).toEqual({ success: true, transaction: "T" });
  expect(named).toEqual([
    [name, name],
    [name, name],
  ]);
});

test("a settlement before the first list waits for it: nothing is sent under a name that may be wrong", async () => {
  const asked = facilitator();
  listed = undefined;
  await expect(asked.settle(PAYMENT, REQUIREMENT, soon())).rejects.toEqual(serviceError("facilitator_failed"));
  expect(named).toEqual([]);
  listed = [WHOLE];
  expect(await asked.settle(PAYMENT, REQUIREMENT, soon())).toMatchObject({ success: true });
  expect(named).toEqual([[WHOLE, WHOLE]]);
});

test("a facilitator that no longer lists the rail is told of a payment that is under way by the name that it had", async () => {
  listed = [WHOLE];
  const asked = facilitator();
  await asked.supported(soon());
  listed = [];
  await asked.supported(soon());
  await asked.settle(PAYMENT, REQUIREMENT, soon());
  expect(named).toEqual([[WHOLE, WHOLE]]);
});
