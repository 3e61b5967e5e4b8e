import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Endpoint, Tool as ToolEntry } from "../catalogue/catalogue.ts";
import { ProblemDocument } from "../catalogue/schemas/problem.ts";

/** A problem as a tool's result has it: there is no Retry-After header to carry the seconds. */
const ToolProblem = ProblemDocument.extend({
  retryAfter: z.int().min(1).optional().describe("Seconds after which the same call may succeed."),
});

const HOW_TO_PAY =
  'Over MCP: an unpaid call results in an error whose structuredContent is x402\'s PaymentRequired. Call again with the same arguments and the signed PaymentPayload, as an object, in params._meta["x402/payment"]; the receipt is in the result\'s _meta["x402/payment-response"]. Where retry.sameHeader is true, money may have moved: call again with the same payment and sign nothing new.';

/**
 * How MCP lists a tool: the endpoint's own description, input and output.
 *
 * @param tool the endpoint's
 */
export function describeTool(endpoint: Endpoint, { name, title, annotations }: ToolEntry): Tool {
  const { description, access } = endpoint;
  return {
    name,
    title,
    description: access === "paid" ? `${description} ${HOW_TO_PAY}` : description,
    inputSchema: inputSchema(endpoint),
    outputSchema: outputSchema(endpoint),
    annotations: { ...annotations },
  };
}

/** Arguments are the members of the endpoint's path, query and body, side by side. */
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
 * A union of all that the tool may result in, errors too: clients of the 1.x SDK hold those to the schema as well. Its
 * root is an object, as revisions before 2026-07-28 ask.
 */
function outputSchema({ replies, problems }: Endpoint): NonNullable<Tool["outputSchema"]> {
  const problem = problems.includes("bundle_rejected") ? ToolProblem : ToolProblem.omit({ report: true });
  const results = new Set([...Object.values(replies).map(({ schema }) => schema), problem]);
  return { type: "object", anyOf: [...results].map(jsonSchema) };
}

type ObjectSchema = { properties: Record<string, object>; required?: string[] };

function objectSchema(schema: z.ZodType): ObjectSchema {
  return jsonSchema(schema) as ObjectSchema;
}

/**
 * Without a dialect, and of base64 the one keyword that the standard has: clients' validators complain of a format that
 * they do not know, and the pattern would be a good part of the list.
 */
function jsonSchema(schema: z.ZodType): { [keyword: string]: unknown } {
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
