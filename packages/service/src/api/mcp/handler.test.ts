import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import pino from "pino";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { ask as askRoute } from "../../../test/fakes/transport.ts";
import type { Admit } from "../../calls/admit.ts";
import { type Outcome, unanswered } from "../../calls/outcome.ts";
import { pending } from "../../calls/problems.ts";
import { CATALOGUE, type Catalogue, type Endpoint } from "../../catalogue/catalogue.ts";
import { encodeHeader } from "../../payment/header.ts";
import { createOffers, type Offers } from "../../payment/offers.ts";
import { ANY_SALE } from "../../payment/sale.ts";
import type { Subject } from "../../subjects/subject.ts";
import { readMessage } from "../endpoints/messages.ts";
import type { Operation, Operations } from "../endpoints/operations.ts";
import { createHandler } from "./handler.ts";

const SUBJECT: Subject = { kind: "transaction", chain: "algorand", id: "ID" };
const PAYMENT = { x402Version: 2, accepted: { network: "n" }, payload: { signature: "s" } };
const UNPAID: Outcome = { kind: "payment_required", accepts: [], options: [], extensions: {} };

const OPERATIONS: Operations = Object.fromEntries(
  Object.entries(CATALOGUE).map(([id, { access }]): [string, Operation] => [
    id,
    access === "paid"
      ? { kind: "paid", probe: ANY_SALE, subject: () => SUBJECT, sale: () => ANY_SALE }
      : { kind: "read", read: (params) => ({ status: 200, text: JSON.stringify(params) }) },
  ]),
);

type Setup = { admit?: Admit; catalogue?: Catalogue; operations?: Operations };

/** Makes an endpoint that is called without a network. */
function anEndpoint({ admit = async () => UNPAID, catalogue = CATALOGUE, operations = OPERATIONS }: Setup = {}) {
  const log = pino({ level: "silent" });
  const offers = createOffers({ itemPrice: 100n, rails: [], maxTimeoutSeconds: 1, now: Date.now });
  // A demand for payment needs at least one offer.
  vi.spyOn(offers, "for").mockReturnValue([{} as ReturnType<Offers["for"]>[number]]);
  const logged = vi.spyOn(log, "error");
  const handle = createHandler({
    admit,
    offers,
    catalogue,
    operations,
    readMessage: async (body, form) => readMessage(body, form),
    origin: "https://attestd.example",
    origins: ["https://attestd.example"],
    log,
  });
  const send = (body: string, headers: Record<string, string> = {}) =>
    askRoute(
      { method: "POST", path: "/mcp", handle },
      {
        headers: {
          host: "attestd.example",
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        body,
      },
    );

  /** Asks in revision 2026-07-28, which answers in JSON. */
  async function ask(method: string, params: { name?: string; _meta?: object; arguments?: object } = {}) {
    const version = "2026-07-28";
    const _meta = {
      ...params._meta,
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const response = await send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }), {
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(params.name && { "mcp-name": params.name }),
    });
    const { result } = (await response.json()) as { result: Record<string, unknown> };
    return result;
  }
  const attest = (payment?: unknown, args: object = { txid: "ID" }) =>
    ask("tools/call", {
      name: "attest",
      arguments: args,
      ...(payment !== undefined && { _meta: { "x402/payment": payment } }),
    });
  return { send, ask, attest, logged };
}

describe("an MCP endpoint", () => {
  test("has a tool for every endpoint of the catalogue that is one, also for a new one", async () => {
    const made: Endpoint = {
      ...CATALOGUE.bundle,
      path: "/made/:of",
      params: z.object({ of: z.string().max(3) }),
      query: z.object({ colour: z.string().optional() }),
      tool: { ...CATALOGUE.bundle.tool, name: "made" },
    };
    const { ask } = anEndpoint({
      catalogue: { ...CATALOGUE, made },
      operations: {
        ...OPERATIONS,
        made: { kind: "read", read: ({ of }) => ({ status: 200, text: `{"of":"${of}"}` }) },
      },
    });
    const { tools } = (await ask("tools/list")) as { tools: { name: string; inputSchema: object }[] };
    const expected = Object.values<Endpoint>(CATALOGUE).flatMap(({ tool }) => tool?.name ?? []);
    expect(tools.map(({ name }) => name)).toEqual([...expected, "made"]);
    expect(tools.at(-1)?.inputSchema).toMatchObject({
      properties: { of: { type: "string", maxLength: 3 }, colour: { type: "string" } },
      required: ["of"],
      additionalProperties: false,
    });
    expect(await ask("tools/call", { name: "made", arguments: { of: "us" } })).toMatchObject({
      structuredContent: { of: "us" },
    });
  });

  test("confuses no arguments: path, query and body of an endpoint share no member", () => {
    for (const { params, query, body } of Object.values<Endpoint>(CATALOGUE)) {
      const names = [params, query, body?.schema].flatMap((schema) =>
        schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
      );
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test("gives the subject and the payment to admit, and returns the bundle and its receipt byte for byte", async () => {
    const admit = vi.fn<Admit>(async () => ({
      kind: "delivered",
      body: '{"version": 1}',
      receipt: encodeHeader({ success: true, transaction: "T", network: "n" }),
    }));
    const { attest } = anEndpoint({ admit });
    expect(await attest(PAYMENT)).toMatchObject({
      content: [{ type: "text", text: '{"version": 1}' }],
      structuredContent: { version: 1 },
      _meta: { "x402/payment-response": { success: true, transaction: "T" } },
    });
    expect(admit.mock.calls).toEqual([[SUBJECT, PAYMENT]]);
  });

  test("after a failed settlement requires another payment, and returns the receipt of this one", async () => {
    const receipt = encodeHeader({ success: false, errorReason: "settlement_failed", transaction: "", network: "n" });
    const { attest } = anEndpoint({ admit: async () => ({ ...UNPAID, error: "expired", receipt }) });
    expect(await attest(PAYMENT)).toMatchObject({
      isError: true,
      structuredContent: { x402Version: 2, error: "expired", resource: { url: "mcp://tool/attest" } },
      _meta: { "x402/payment-response": { success: false, errorReason: "settlement_failed" } },
    });
  });

  test("requires no other payment where money may have moved, and states that", async () => {
    const { attest } = anEndpoint({ admit: async () => unanswered(pending("attestation_pending", "Paid.")) });
    const { structuredContent, ...result } = await attest(PAYMENT);
    expect(result).toMatchObject({ isError: true });
    expect(structuredContent).toEqual({
      type: "https://attestd.example/problems/attestation_pending",
      title: "Paid, not recorded yet",
      status: 503,
      detail: "Paid. Do not sign again.",
      code: "attestation_pending",
      retry: { sameHeader: true },
      retryAfter: 5,
    });
  });

  test("answers an internal error without its cause, logs the cause, and forbids a second payment", async () => {
    const { attest, logged } = anEndpoint({ admit: () => Promise.reject(new Error("secret")) });
    const paid = await attest(PAYMENT);
    expect(paid).toMatchObject({ isError: true, structuredContent: { code: "internal", retry: { sameHeader: true } } });
    expect(JSON.stringify(paid)).not.toContain("secret");
    expect(logged).toHaveBeenCalledOnce();
  });

  test("bounds the arguments and the metadata of a paid call separately", async () => {
    const admit = vi.fn<Admit>(async () => UNPAID);
    const { attest } = anEndpoint({ admit });
    expect(await attest(PAYMENT, { txid: "x".repeat(64 * 1024) })).toMatchObject({
      isError: true,
      structuredContent: { code: "body_too_large" },
    });
    const extensions = { large: "x".repeat(16 * 1024) };
    await expect(attest({ ...PAYMENT, extensions })).rejects.toMatchObject({ code: "body_too_large" });
    expect(admit).not.toHaveBeenCalled();
  });

  test.each(["2026-07-28", "2025-06-18"])(
    "compresses the list of tools for clients that accept gzip, in %s",
    async (version) => {
      const { send } = anEndpoint();
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const isModern = version === "2026-07-28";
      const list = (id: number) =>
        JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params: isModern ? { _meta } : {} });
      const headers = { "mcp-protocol-version": version, ...(isModern && { "mcp-method": "tools/list" }) };
      for (const id of [1, 23]) {
        const plain = await (await send(list(id), headers)).text();
        const { headers: sent, body } = await send(list(id), { ...headers, "accept-encoding": "gzip" });
        expect([sent.get("content-encoding"), sent.get("vary")]).toEqual(["gzip", "accept-encoding"]);
        const bytes = Buffer.from(await new Response(body).arrayBuffer());
        expect(bytes.length).toBeLessThan(plain.length / 4);
        expect(gunzipSync(bytes).toString()).toBe(plain);
      }
    },
  );

  test("refuses a body that is longer than its Content-Length", async () => {
    const { send } = anEndpoint();
    const body = `"${"x".repeat(3 * 1024 * 1024)}"`;
    await expect(send(body, { "content-length": "10" })).rejects.toMatchObject({ code: "body_too_large" });
  });

  test("answers every message without an internal error", async () => {
    const { send, logged } = anEndpoint();
    const name = fc.constantFrom(...Object.values<Endpoint>(CATALOGUE).flatMap(({ tool }) => tool?.name ?? []));
    const meta = fc.dictionary(
      fc.constantFrom("x402/payment", "io.modelcontextprotocol/protocolVersion", "progressToken"),
      fc.jsonValue(),
    );
    const message = fc.record(
      {
        jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
        id: fc.oneof(fc.integer(), fc.jsonValue()),
        method: fc.oneof(fc.constantFrom("tools/call", "tools/list", "initialize", "ping"), fc.string()),
        params: fc.oneof(
          fc.record({ name, arguments: fc.jsonValue(), _meta: fc.oneof(meta, fc.jsonValue()) }, { requiredKeys: [] }),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof({ weight: 4, arbitrary: message.map((value) => JSON.stringify(value)) }, fc.string());
    const version = fc.constantFrom({}, { "mcp-protocol-version": "2026-07-28" }, { "mcp-method": "tools/call" });
    await fc.assert(
      fc.asyncProperty(body, version, async (text, headers) => {
        const answer = await send(text, headers).catch((error) => error);
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: 500 },
    );
    expect(logged).not.toHaveBeenCalled();
  });
});
