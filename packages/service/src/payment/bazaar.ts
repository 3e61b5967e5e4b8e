import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { z } from "zod";
import type { Endpoint } from "../catalogue.ts";

/**
 * How a paid endpoint is called, for those who index paid resources (x402 extension `bazaar`): its method, the schema of
 * its body, and an example. What it answers with is left to the OpenAPI document, because this travels in a header, and
 * comes back in every payment.
 */
export function bazaarExtension({ method, body }: Endpoint): Record<string, unknown> {
  if (!body) throw new Error("a paid endpoint has a body");
  const { $schema, ...inputSchema } = z.toJSONSchema(body.schema, { io: "input" });
  const [input = {}] = Object.values(body.examples ?? {});
  const config = { method, bodyType: "json", input: input as Record<string, unknown>, inputSchema } as const;
  // `method` is for the stock server to fill in, and is no part of the declared type: ours is known here.
  return declareDiscoveryExtension(config as Parameters<typeof declareDiscoveryExtension>[0]);
}
