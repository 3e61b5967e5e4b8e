import {
  declareDiscoveryExtension,
  extractDiscoveryInfoFromExtension,
  validateDiscoveryExtensionSpec,
} from "@x402/extensions/bazaar";
import { expect, test } from "vitest";
import { z } from "zod";
import { CATALOGUE, type Endpoint } from "../catalogue/catalogue.ts";
import { bazaarExtension } from "./bazaar.ts";

const paid: Endpoint[] = Object.values(CATALOGUE).filter(({ access }) => access === "paid");

test.each(paid)("indexers take $path, and its example fits its schema", (endpoint) => {
  const { bazaar } = bazaarExtension(endpoint);
  expect(validateDiscoveryExtensionSpec(bazaar as Record<string, unknown>)).toEqual({ valid: true });
  const info = extractDiscoveryInfoFromExtension(bazaar as Parameters<typeof extractDiscoveryInfoFromExtension>[0]);
  expect(info.input).toMatchObject({ type: "http", method: endpoint.method, bodyType: "json", body: {} });
  expect(JSON.stringify(bazaar).length).toBeLessThan(1_500);
});

test.each(paid)("the extension of $path is the stock one", (endpoint) => {
  const { method, body } = endpoint;
  const { $schema, ...inputSchema } = z.toJSONSchema(body?.schema as z.ZodType, { io: "input" });
  const [input] = Object.values(body?.examples ?? {}) as Record<string, unknown>[];
  // `method` is for the stock server to fill in, and is no part of the declared type.
  const config = { method, bodyType: "json", ...(input && { input }), inputSchema } as const;
  const stock = declareDiscoveryExtension(config as Parameters<typeof declareDiscoveryExtension>[0]);
  expect(JSON.stringify(bazaarExtension(endpoint))).toBe(JSON.stringify(stock));
});

test("there are paid endpoints", () => {
  expect(paid.map(({ path }) => path)).toContain("/attest");
});
