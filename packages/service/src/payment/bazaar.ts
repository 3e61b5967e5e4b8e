import { z } from "zod";
import type { Endpoint } from "../catalogue/catalogue.ts";

/**
 * How to call a paid endpoint, for indexers of paid resources (x402 extension `bazaar`): its method, the schema of its body
 * and an example. The answers are left to the OpenAPI document, because this is sent in a header and comes back in every
 * payment. The stock package would give the same (bazaar.test.ts), but brings a JSON Schema validator along.
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
