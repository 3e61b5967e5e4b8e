import { PaymentPayloadV2Schema } from "@x402/core/schemas";
import { validateDiscoveryExtension } from "@x402/extensions/bazaar";
import { expect, test } from "vitest";
import { CATALOGUE } from "../catalogue/catalogue.ts";
import { forwardedPayment } from "./forwarded-payment.ts";
import { resourceOf } from "./resource.ts";

const REQUIREMENT = {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1000",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 120,
  extra: { name: "USD Coin", version: "2" },
} as const;
const paid = Object.values(CATALOGUE).filter(({ access }) => access === "paid");

test.each(paid.map((endpoint) => [endpoint.path, endpoint] as const))(
  "the facilitator gets our own words about %s, and of the client's only the scheme's own part",
  (path, endpoint) => {
    const wire = { signature: "0x00", authorization: {} };
    const sent = forwardedPayment({ wire }, REQUIREMENT, resourceOf(endpoint, "https://attestd.example"));
    expect(PaymentPayloadV2Schema.safeParse(sent).success).toBe(true);
    expect(sent).toMatchObject({
      accepted: REQUIREMENT,
      payload: wire,
      resource: { url: `https://attestd.example${path}` },
    });
    expect(Object.keys(sent.extensions ?? {})).toEqual(["bazaar"]);
    expect(validateDiscoveryExtension(sent.extensions?.bazaar as never)).toMatchObject({ valid: true });
    // A large facilitator answers 400 beyond it.
    expect(sent.resource?.description?.length).toBeLessThanOrEqual(500);
  },
);
