import { parseBundle } from "@attestd/proof";
import pino from "pino";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { testBatchItem } from "../../../../test/bundles/batches.ts";
import { testBlockBundle, testBundle, testInclusionBundle } from "../../../../test/bundles/bundles.ts";
import { serve } from "../../test/fakes/transport.ts";
import { createApp } from "../api/app.ts";
import { createDocuments } from "../api/documents/documents.ts";
import type { Site } from "../api/documents/site.ts";
import { type MessageForm, readMessage } from "../api/endpoints/messages.ts";
import type { Operation } from "../api/endpoints/operations.ts";
import { mcpRoute } from "../api/mcp/route.ts";
import { PROBLEMS } from "../lib/problems.ts";
import type { Offers } from "../payment/offers.ts";
import { CATALOGUE, type Catalogue, type Endpoint } from "./catalogue.ts";
import { ALWAYS_POSSIBLE } from "./endpoint.ts";
import { BatchItem, BlockBundle, InclusionBundle, ProofBundle } from "./schemas/bundles.ts";

const ORIGIN = "https://attestd.example";
const OPTION = {
  scheme: "exact",
  network: "algorand-mainnet",
  asset: "31566704",
  payTo: "PAYEE",
  maxAmountRequired: "1000",
  priceUsdc: "0.001",
  facilitatorUrl: "https://facilitator.example",
};
const SITE: Site = {
  origin: ORIGIN,
  sandbox: false,
  mcpUrl: `${ORIGIN}/mcp`,
  contact: "mailto:operator@attestd.example",
  options: [OPTION],
  listed: [OPTION],
  batch: { itemUsdc: "0.0001", maxItems: 1000, smallest: [OPTION], largest: [OPTION] },
  sources: [{ chain: "algorand", options: [OPTION] }],
  paymentLifeSeconds: 3600,
  today: new Date(0),
};

describe("an endpoint that is added to the table", () => {
  const answer = z.strictObject({ name: z.string() });
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  const greeting: Endpoint = {
    method: "GET",
    path: "/greetings/:name",
    access: "free",
    tag: "read",
    summary: "A greeting by name",
    description: "Greets whoever is named.",
    params: z.object({ name: z.string().regex(/^[a-z]+$/) }),
    replies: { 200: { description: "The greeting.", schema: answer } },
    problems: ["not_found"],
    tool: { name: "greet", title: "Greet", annotations },
    skill: { id: "greet", name: "Greet", tags: ["greeting"] },
  };
  const feast: Endpoint = {
    ...greeting,
    method: "POST",
    path: "/feasts",
    access: "paid",
    summary: "A feast",
    body: { schema: answer, maxBytes: 1024, description: "For whom." },
    tool: { name: "feast", title: "Feast", annotations },
    skill: { id: "feast", name: "Feast", tags: ["feast"] },
  };
  const catalogue: Catalogue = { ...CATALOGUE, greeting, feast };
  const greet: Operation = { kind: "read", read: ({ name }) => ({ status: 200, text: JSON.stringify({ name }) }) };

  test("is in every document", () => {
    const documents = createDocuments(catalogue, SITE);
    const of = (id: keyof typeof documents) => JSON.parse(documents[id].text());
    expect(of("openapi").paths["/greetings/{name}"].get).toMatchObject({
      operationId: "greeting",
      parameters: [{ name: "name", in: "path", required: true, schema: { type: "string", pattern: "^[a-z]+$" } }],
      responses: { 200: { content: { "application/json": { schema: { properties: { name: { type: "string" } } } } } } },
    });
    expect(of("openapi").paths["/feasts"].post["x-x402"]).toMatchObject({ version: 2, accepts: [OPTION] });
    expect(of("discovery").endpoints.slice(-2)).toMatchObject([
      { method: "GET", path: "/greetings/{name}", access: "free", tool: "greet" },
      { method: "POST", url: `${ORIGIN}/feasts`, access: "paid", priceUsdc: "0.001" },
    ]);
    expect(of("x402").resources.at(-1)).toMatchObject({ url: `${ORIGIN}/feasts`, description: "A feast", ...OPTION });
    for (const id of ["agentCard", "agent"] as const)
      expect(of(id).skills.slice(-2)).toMatchObject([{ id: "greet" }, { id: "feast" }]);
    expect(of("mcpServerCard").tools.slice(-2)).toMatchObject([{ name: "greet" }, { name: "feast" }]);
    expect(documents.llms.text()).toContain(
      `- [GET /greetings/{name}](${ORIGIN}/greetings/{name}): A greeting by name.`,
    );
    expect(documents.llms.text()).toContain(`- [POST /feasts](${ORIGIN}/feasts): A feast.`);
    expect(documents.llms.text()).toContain("greet, feast");
  });

  test("is a route and a tool", async () => {
    const options = {
      catalogue: { greeting },
      operations: { greeting: greet },
      readMessage: async (body: Uint8Array, form: MessageForm) => readMessage(body, form),
      admit: () => Promise.reject(new Error("nobody pays here")),
      offers: {} as Offers,
      origin: ORIGIN,
      log: pino({ level: "silent" }),
    };
    await using server = await serve(createApp({ ...options, routes: [mcpRoute({ ...options, origins: [ORIGIN] })] }));
    const ask = (path: string, method = "GET") => fetch(`${server.url}${path}`, { method });
    expect(await (await ask("/greetings/ann")).json()).toEqual({ name: "ann" });
    expect((await ask("/greetings/ANN")).status).toBe(404);
    expect((await ask("/greetings/ann", "POST")).headers.get("allow")).toBe("GET, HEAD");

    const called = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "greet", arguments: { name: "bob" } },
      }),
    });
    expect(await called.text()).toContain('"structuredContent":{"name":"bob"}');
  });
});

describe("the table", () => {
  const endpoints: Endpoint[] = Object.values(CATALOGUE);

  test("has each path, tool and skill once", () => {
    const once = (names: (string | undefined)[]) => {
      const given = names.filter((name) => name !== undefined);
      expect(given).toEqual([...new Set(given)]);
    };
    once(endpoints.map(({ method, path }) => `${method} ${path}`));
    once(endpoints.map(({ tool }) => tool?.name));
    once(endpoints.map(({ skill }) => skill?.id));
  });

  test("lists every problem, each at the endpoints where it can occur", () => {
    const named = new Set(endpoints.flatMap(({ problems }) => problems));
    // Problems of unknown paths, and of requests that cannot be parsed.
    const nowhere = ["method_not_allowed", "request_malformed", "request_timeout", "headers_too_large"] as const;
    const elsewhere = [...ALWAYS_POSSIBLE, ...nowhere];
    expect(new Set([...named, ...elsewhere])).toEqual(new Set(Object.keys(PROBLEMS)));
    for (const { access, problems } of endpoints)
      expect(problems.includes("payment_unaccounted")).toBe(access === "paid");
  });

  test("has examples that fit their schemas, and a schema for each path parameter", () => {
    for (const { path, params, body, replies } of endpoints) {
      for (const example of Object.values(body?.examples ?? {}))
        expect(body?.schema.safeParse(example).error).toBe(undefined);
      for (const { example, schema } of Object.values(replies))
        if (example !== undefined) expect(schema.safeParse(example).error).toBe(undefined);
      const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
      expect(Object.keys(params?.shape ?? {})).toEqual(named);
    }
  });

  test.each([
    ["ProofBundle", ProofBundle, testBundle()],
    ["BlockBundle", BlockBundle, testBlockBundle()],
    ["InclusionBundle", InclusionBundle, testInclusionBundle()],
    ["BatchItem", BatchItem, testBatchItem()],
  ])("describes a %s as verifiers read it", (_, schema, bundle) => {
    expect(schema.parse(parseBundle(bundle))).toEqual(bundle);
    expect(schema.safeParse({ ...bundle, more: 1 }).success).toBe(false);
    for (const member of Object.keys(bundle))
      expect(schema.safeParse({ ...bundle, [member]: undefined }).success).toBe(false);
  });
});
