import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Endpoint } from "../../catalogue/catalogue.ts";
import { ProblemDocument } from "../../catalogue/schemas/problem.ts";

/** A problem as a tool's result, which has no Retry-After header. */
const ToolProblem = ProblemDocument.extend({
  retryAfter: z.int().min(1).optional().describe("Seconds after which the same call may succeed."),
});

const HOW_TO_PAY =
  'Over MCP: an unpaid call results in an error whose structuredContent is x402\'s PaymentRequired. Call again with the same arguments and the signed PaymentPayload, as an object, in params._meta["x402/payment"]; the receipt is in the result\'s _meta["x402/payment-response"]. Where retry.sameHeader is true, money may have moved: call again with the same payment and sign nothing new.';

/** Describes an endpoint for MCP's list. @returns undefined for an endpoint that is not a tool */
export function describeTool(endpoint: Endpoint): Tool | undefined {
  const { tool, description, access } = endpoint;
  return (
    tool && {
      ...tool,
      description: access === "paid" ? `${description} ${HOW_TO_PAY}` : description,
      inputSchema: inputSchema(endpoint),
      outputSchema: outputSchema(endpoint),
    }
  );
}

/** Merges the members of the endpoint's path, query and body into one object of arguments. */
function inputSchema({ params, query, body }: Endpoint): Tool["inputSchema"] {
  const parts = [params, query, body?.schema].filter((schema) => schema !== undefined).map(objectSchema);
  return {
    type: "object",
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
    additionalProperties: false,
  };
}

/**
 * Merges a union into one object, because models' interfaces accept no union at the root of a tool's arguments. It has
 * the members of all alternatives, and requires those that all require. The endpoint itself reports a member that does
 * not fit.
 */
function objectSchema(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  if (!(schema instanceof z.ZodUnion)) return jsonSchema(schema);
  const options = schema.options.map((option) => jsonSchema(option as z.ZodType));
  const names = new Set(options.flatMap(({ properties = {} }) => Object.keys(properties)));
  const alternatives = (name: string) => {
    const all = options.flatMap(({ properties }) => properties?.[name] ?? []);
    const distinct = [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
    return distinct.length === 1 ? distinct[0] : { anyOf: distinct };
  };
  return {
    properties: Object.fromEntries([...names].map((name) => [name, alternatives(name)])),
    required: [...names].filter((name) => options.every(({ required = [] }) => required.includes(name))),
  } as z.core.JSONSchema.BaseSchema;
}

/**
 * Returns a union of the tool's results, including errors, because clients of the 1.x SDK also check errors. Its root
 * is an object, as revisions before 2026-07-28 require.
 */
function outputSchema({ replies, problems }: Endpoint): NonNullable<Tool["outputSchema"]> {
  const problem = problems.includes("bundle_rejected") ? ToolProblem : ToolProblem.omit({ report: true });
  const results = new Set([...Object.values(replies).map(({ schema }) => schema), problem]);
  return { type: "object", anyOf: [...results].map(jsonSchema) };
}

/**
 * Leaves out the dialect, and the format and pattern of base64. Clients' validators warn about the format, which is not
 * standard, and the pattern would be a large part of the list.
 */
function jsonSchema(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  const { $schema, ...keywords } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      if (jsonSchema.contentEncoding !== "base64") return;
      delete jsonSchema.format;
      delete jsonSchema.pattern;
    },
  });
  return keywords;
}
