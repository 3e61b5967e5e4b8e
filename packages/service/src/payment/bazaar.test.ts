import { extractDiscoveryInfoFromExtension, validateDiscoveryExtensionSpec } from "@x402/extensions/bazaar";
import { expect, test } from "vitest";
import { CATALOGUE } from "../catalogue.ts";
import { bazaarExtension } from "./bazaar.ts";

const paid = Object.values(CATALOGUE).filter(({ access }) => access === "paid");

test.each(paid)("indexers take $path, and its example fits its schema", (endpoint) => {
  const { bazaar } = bazaarExtension(endpoint);
  expect(validateDiscoveryExtensionSpec(bazaar as Record<string, unknown>)).toEqual({ valid: true });
  const info = extractDiscoveryInfoFromExtension(bazaar as Parameters<typeof extractDiscoveryInfoFromExtension>[0]);
  expect(info.input).toMatchObject({ type: "http", method: endpoint.method, bodyType: "json", body: {} });
  expect(JSON.stringify(bazaar).length).toBeLessThan(1_500);
});

test("there are paid endpoints", () => {
  expect(paid.map(({ path }) => path)).toContain("/attest");
});
