import type { z } from "zod";
import { ALWAYS_POSSIBLE, type Endpoint, type Reply, type RequestBody } from "../catalogue/endpoint.ts";
import type { HeaderName } from "../catalogue/headers.ts";
import { ProblemDocument } from "../catalogue/schemas/problem.ts";
import { PROBLEMS, type ProblemCode } from "../problems.ts";
import { schemaOf } from "./json-schema.ts";
import type { PaymentTerms } from "./terms.ts";

/** An endpoint as OpenAPI 3.1.0 describes it (Operation Object). */
export function operationObject(id: string, endpoint: Endpoint, terms: PaymentTerms) {
  const { access, tag, summary, description, body } = endpoint;
  const parameters = [
    ...parametersOf("path", endpoint.params),
    ...parametersOf("query", endpoint.query),
    ...(access === "paid" ? [{ $ref: "#/components/parameters/PAYMENT-SIGNATURE" }] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body) }),
    responses: responses(endpoint),
    ...(access === "paid" && {
      "x-x402": terms,
      "x-payment-info": {
        protocols: [{ x402: {} }],
        price: { mode: "fixed", currency: "USD", amount: terms.priceUsdc },
      },
    }),
  };
}

function parametersOf(place: "path" | "query", object: z.ZodObject | undefined) {
  return Object.entries(object?.shape ?? {}).map(([name, schema]) => {
    const { description, ...form } = schemaOf(schema as z.ZodType);
    const required = place === "path" || !(schema as z.ZodType).safeParse(undefined).success;
    return { name, in: place, required, ...(description !== undefined && { description }), schema: form };
  });
}

function requestBody({ schema, description, maxBytes, examples = {} }: RequestBody) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    description: `${description} At most ${maxBytes / 1024} KiB.`,
    required: true,
    content: {
      "application/json": {
        schema: schemaOf(schema),
        ...(named.length > 0 && { examples: Object.fromEntries(named) }),
      },
    },
  };
}

type ResponseObject = {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
};

/** Replies and problems by status; where one status can be either, the media type tells them apart. */
function responses(endpoint: Endpoint): Record<string, ResponseObject> {
  const all = new Map<number, ResponseObject[]>();
  const add = (status: number, response: ResponseObject) => all.set(status, [...(all.get(status) ?? []), response]);
  for (const [status, reply] of Object.entries(endpoint.replies)) add(Number(status), replyResponse(reply, endpoint));
  if (endpoint.cacheControl) add(304, { description: "Not modified: If-None-Match names this ETag." });
  const byStatus = Map.groupBy([...endpoint.problems, ...ALWAYS_POSSIBLE], (code) => PROBLEMS[code][0]);
  for (const [status, codes] of byStatus) add(status, problemResponse(codes));
  return Object.fromEntries(
    [...all].sort(([a], [b]) => a - b).map(([status, alternatives]) => [status, alternatives.reduce(merge)]),
  );
}

function merge(a: ResponseObject, b: ResponseObject): ResponseObject {
  return {
    description: `${a.description} ${b.description}`,
    headers: { ...a.headers, ...b.headers },
    content: { ...a.content, ...b.content },
  };
}

function replyResponse({ description, schema, mediaType, headers = [], example }: Reply, endpoint: Endpoint) {
  const names: readonly HeaderName[] = [...headers, ...(endpoint.cacheControl ? (["ETag"] as const) : [])];
  return {
    description,
    headers: headerObjects([...names, "Cache-Control"]),
    content: {
      [mediaType?.split(";")[0] ?? "application/json"]: {
        schema: schemaOf(schema),
        ...(example !== undefined && { example }),
      },
    },
  };
}

function problemResponse(codes: readonly ProblemCode[]): ResponseObject {
  const waits = codes.some((code) => [409, 429, 503].includes(PROBLEMS[code][0]));
  return {
    description: codes.map((code) => `${PROBLEMS[code][1]} (\`${code}\`).`).join(" "),
    headers: headerObjects(["Cache-Control", ...(waits ? (["Retry-After"] as const) : [])]),
    content: {
      "application/problem+json": {
        schema: { allOf: [schemaOf(ProblemDocument), { properties: { code: { enum: codes } } }] },
      },
    },
  };
}

function headerObjects(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
