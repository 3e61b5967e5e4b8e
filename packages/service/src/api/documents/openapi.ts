import { z } from "zod";
import { NAME, VERSION } from "../../catalogue/about.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { ALWAYS_POSSIBLE, type Endpoint, type Reply, type RequestBody } from "../../catalogue/endpoint.ts";
import { HEADERS, type Header, type HeaderName } from "../../catalogue/headers.ts";
import { ProblemDocument } from "../../catalogue/schemas/problem.ts";
import { SCHEMAS } from "../../catalogue/schemas/registry.ts";
import { EVERY_CHAIN } from "../../catalogue/sources.ts";
import { PROBLEMS, type ProblemCode } from "../../lib/problems.ts";
import type { PaymentOption } from "../../payment/payment-option.ts";
import { codeSamples } from "./code-samples.ts";
import { introduction, links, paymentTerms, type Site, uriTemplate } from "./site.ts";
import { contactEmail } from "./well-known.ts";

const TAGS = {
  attest: "Paid: attestations and proofs.",
  verify: "Free: bundles are verified.",
  read: "Free: bundles, keys and explanations are looked up.",
  operate: "For operators and load balancers.",
  documents: "For programs and agents that look for the service.",
};

/** `/openapi.json`: the contract (OpenAPI 3.1.0). */
export function openapi(catalogue: Catalogue, site: Site) {
  const { "PAYMENT-SIGNATURE": payment, ...headers } = HEADERS;
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, endpoint] of Object.entries(catalogue)) {
    const path = uriTemplate(endpoint.path);
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: operationObject(id, endpoint, site),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: NAME,
      version: VERSION,
      summary: `Post-quantum attestations of ${EVERY_CHAIN} transactions, paid by x402`,
      description: introduction(site),
      // Indexers (x402scan, AgentCash) read it next to x-payment-info.
      "x-guidance": guidance(site),
      contact: { name: `The operator of ${site.origin}`, url: site.origin, email: contactEmail(site) },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: site.origin }],
    externalDocs: { description: "The same in plain text, and how to pay.", url: links(site).textIndex },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [],
    paths,
    components: {
      schemas: componentSchemas(),
      parameters: { "PAYMENT-SIGNATURE": { name: "PAYMENT-SIGNATURE", in: "header", ...headerObject(payment) } },
      headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, headerObject(header)])),
    },
  };
}

/** Returns short instructions for agents. */
function guidance(site: Site): string {
  return `${introduction(site)} POST /attest with {"txid": …} attests a transaction: without a payment the answer is 402 with the offers; sign one and repeat the request with PAYMENT-SIGNATURE. POST /verify checks a bundle for free. Only a 402 means that it is safe to sign a new payment. More: ${links(site).textIndex}`;
}

function headerObject(header: Header) {
  return { ...header, schema: schemaOf(header.schema) };
}

/** Returns the Operation Object of an endpoint (OpenAPI 3.1.0). */
function operationObject(id: string, endpoint: Endpoint, site: Site) {
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
    "x-codeSamples": codeSamples(endpoint, site.origin),
    ...(access === "paid" && {
      "x-x402": paymentTerms(site, endpoint),
      "x-payment-info": {
        protocols: [{ x402: {} }],
        price: endpoint.isBatch ? priceRange([...site.batch.smallest, ...site.batch.largest]) : priceRange(site.listed),
      },
    }),
  };
}

/**
 * Returns one price, or the lowest and the highest if rails or sizes have different prices
 * (agentcash.dev/docs/discovery).
 */
function priceRange(options: readonly PaymentOption[]) {
  const prices = options.toSorted((a, b) => Number(a.maxAmountRequired) - Number(b.maxAmountRequired));
  const [min, max] = [prices[0]?.priceUsdc, prices.at(-1)?.priceUsdc];
  return min === max ? { mode: "fixed", currency: "USD", amount: min } : { mode: "dynamic", currency: "USD", min, max };
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

/** Returns replies and problems by status. A status that can be either lists a media type for each. */
function responses(endpoint: Endpoint): Record<string, ResponseObject> {
  const all = new Map<number, ResponseObject[]>();
  const add = (status: number, response: ResponseObject) => all.getOrInsertComputed(status, () => []).push(response);
  for (const [status, reply] of Object.entries(endpoint.replies))
    add(Number(status), replyResponse(reply, endpoint, status));
  if (endpoint.cacheControl) add(304, { description: "Not modified: If-None-Match names this ETag." });
  const byStatus = Map.groupBy([...endpoint.problems, ...ALWAYS_POSSIBLE], (code) => PROBLEMS[code][0]);
  for (const [status, codes] of byStatus) add(status, problemResponse(codes));
  if (endpoint.hasView) for (const status of [200, 404]) if (all.has(status)) add(status, VIEW);
  return Object.fromEntries(
    [...all].sort(([a], [b]) => a - b).map(([status, alternatives]) => [status, [...alternatives, ANY].reduce(merge)]),
  );
}

/** The headers that every answer has. */
const ANY: ResponseObject = {
  description: "",
  headers: headerObjects(["RateLimit-Policy", "RateLimit", "X-Request-Id"]),
};

/** The answer for a browser. */
const VIEW: ResponseObject = {
  description: "For a browser, a page that shows it.",
  content: { "text/html": { schema: { type: "string" } } },
};

function merge(a: ResponseObject, b: ResponseObject): ResponseObject {
  return {
    description: [a.description, b.description].filter(Boolean).join(" "),
    headers: { ...a.headers, ...b.headers },
    ...((a.content || b.content) && { content: { ...a.content, ...b.content } }),
  };
}

function replyResponse(reply: Reply, endpoint: Endpoint, status: string) {
  const { description, schema, mediaType, alternative, headers = [], example } = reply;
  const isKept = endpoint.cacheControl !== undefined && status === "200";
  const names: readonly HeaderName[] = [...headers, ...(isKept ? (["ETag"] as const) : [])];
  return {
    description,
    headers: headerObjects([...names, "Cache-Control"]),
    content: {
      [mediaType?.split(";")[0] ?? "application/json"]: {
        schema: schemaOf(schema),
        ...(example !== undefined && { example }),
      },
      ...(alternative && { [alternative.mediaType]: { schema: schemaOf(alternative.schema) } }),
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

type JsonSchema = { [keyword: string]: unknown };

const uri = (id: string) => `#/components/schemas/${id}`;

/**
 * Options for describing requests and replies as they are sent. Zod calls constant integers numbers, and next to
 * `contentEncoding` writes a format `base64`, which JSON Schema does not have.
 */
const OPTIONS = {
  io: "input",
  override: ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    if (Number.isInteger(jsonSchema.const)) jsonSchema.type = "integer";
    if (jsonSchema.format === "base64") delete jsonSchema.format;
  },
} as const;

/** Returns the named schemas, by name. */
function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(SCHEMAS, { ...OPTIONS, uri });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutIdentity(schema)]));
}

/** Returns a schema, or a reference if it has a name. */
function schemaOf(schema: z.ZodType): JsonSchema {
  const id = SCHEMAS.get(schema)?.id;
  return id === undefined ? withoutIdentity(z.toJSONSchema(schema, OPTIONS)) : { $ref: uri(id) };
}

function withoutIdentity({ $schema: _schema, $id: _id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
