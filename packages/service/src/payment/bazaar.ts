import { z } from "zod";
import type { Endpoint } from "../catalogue/catalogue.ts";

/**
 * How a paid endpoint is called, for those who index paid resources (x402 extension `bazaar`): its method, the schema of
 * its body, and an example. What it answers with is left to the OpenAPI document, because this travels in a header, and
 * comes back in every payment.
 *
 * Written out, as the stock package would give it (bazaar.test.ts): that one brings a JSON Schema validator along.
 */
export function bazaarExtension({ method, body }: Endpoint): Record<string, unknown> {
  if (!body) throw new Error("a paid endpoint has a body");
  const { $schema, ...inputSchema } = z.toJSONSchema(body.schema, { io: "input" });
  const [example = {}] = Object.values(body.examples ?? {});
  const input = {
    type: "object",
    properties: {
      type: { type: "string", const: "http" },
      method: { type: "string", enum: ["POST", "PUT", "PATCH"] },
      bodyType: { type: "string", enum: ["json", "form-data", "text"] },
      body: inputSchema,
    },
    required: ["type", "method", "bodyType", "body"],
    additionalProperties: false,
  };
  return {
    bazaar: {
      info: { input: { type: "http", method, bodyType: "json", body: example } },
      schema: { $schema, type: "object", properties: { input }, required: ["input"] },
    },
  };
}
