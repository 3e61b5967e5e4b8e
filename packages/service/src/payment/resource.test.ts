import { PaymentPayloadV2Schema } from "@x402/core/schemas";
import {
  declareDiscoveryExtension,
  extractDiscoveryInfoFromExtension,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from "@x402/extensions/bazaar";
import { expect, test } from "vitest";
import { z } from "zod";
import { CATALOGUE, type Endpoint } from "../catalogue/catalogue.ts";
import { bazaarExtension, forwardedPayment, resourceOf } from "./resource.ts";

const paid: Endpoint[] = Object.values(CATALOGUE).filter(({ access }) => access === "paid");

test.each(paid)("indexers accept $path, and its example fits its schema", (endpoint) => {
  const { bazaar } = bazaarExtension(endpoint);
  expect(validateDiscoveryExtensionSpec(bazaar as Record<string, unknown>)).toEqual({ valid: true });
  const info = extractDiscoveryInfoFromExtension(bazaar as Parameters<typeof extractDiscoveryInfoFromExtension>[0]);
  expect(info.input).toMatchObject({ type: "http", method: endpoint.method, bodyType: "json", body: {} });
  expect(JSON.stringify(bazaar).length).toBeLessThan(1_500);
});

test.each(paid)("the extension of $path is the one that the stock package makes", (endpoint) => {
  const { method, body } = endpoint;
  const { $schema, ...inputSchema } = z.toJSONSchema(body?.schema as z.ZodType, { io: "input" });
  const [input] = Object.values(body?.examples ?? {}) as Record<string, unknown>[];
  // The stock server fills in `method`, which is not part of the declared type.
  const config = { method, bodyType: "json", ...(input && { input }), inputSchema } as const;
  const stock = declareDiscoveryExtension(config as Parameters<typeof declareDiscoveryExtension>[0]);
  expect(JSON.stringify(bazaarExtension(endpoint))).toBe(JSON.stringify(stock));
});

test("there are paid endpoints", () => {
  expect(paid.map(({ path }) => path)).toContain("/attest");
});

const REQUIREMENT = {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1000",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 120,
  extra: { name: "USD Coin", version: "2" },
} as const;

test.each(paid.map((endpoint) => [endpoint.path, endpoint] as const))(
  "the facilitator gets our own description of %s, and only the scheme's own part of the client's payment",
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
