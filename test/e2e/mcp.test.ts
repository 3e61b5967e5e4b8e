import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { BlockBundle, ProofBundle } from "@attestd/proof";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";

type Tool = { name: string; inputSchema: object; outputSchema?: object | undefined; annotations?: object | undefined };
type Result = {
  isError?: boolean | undefined;
  structuredContent?: unknown;
  content: { type: string; text?: string }[];
  _meta?: Record<string, unknown> | undefined;
};
type Call = { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> };

/** The functions that all official clients have. */
type McpClient = {
  listTools(): Promise<{ tools: Tool[] }>;
  callTool(call: Call): Promise<unknown>;
  close(): Promise<void>;
};

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] });
});
afterAll(() => deployment.close());

const txid = () => deployment.sandbox.sampleTransactions.algorand;
const height = () => deployment.sandbox.sampleTransactions.algorandHeight;
const endpoint = () => new URL(`${deployment.url}/mcp`);
const INFO = { name: "e2e", version: "1.0.0" };

async function connectToRevision2026(): Promise<McpClient> {
  const client = new Client(INFO, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(endpoint()));
  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  return client;
}

async function connectBy1x(): Promise<McpClient> {
  const client = new OlderClient(INFO);
  // The client's own types fail under exactOptionalPropertyTypes.
  await client.connect(new OlderTransport(endpoint()) as unknown as Parameters<OlderClient["connect"]>[0]);
  return client as unknown as McpClient;
}

async function call(client: McpClient, name: string, args: object, payment?: PaymentPayload): Promise<Result> {
  const result = await client.callTool({
    name,
    arguments: { ...args },
    ...(payment && { _meta: { "x402/payment": payment } }),
  });
  return result as Result;
}

/** The payment that a stock x402 client makes from an unpaid call's result. */
async function signFor(client: McpClient, name: string, args: object): Promise<PaymentPayload> {
  const { structuredContent } = await call(client, name, args);
  return algorandClient(deployment.sandbox).createPaymentPayload(structuredContent as PaymentRequired);
}

describe.each([
  ["the client of revision 2026-07-28", connectToRevision2026],
  ["the 1.x client", connectBy1x],
])("%s", (_, connect) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  test("lists every operation as a tool, with its input and output schemas", async () => {
    const complaints = vi.spyOn(console, "warn");
    const { tools } = await client.listTools();
    expect(complaints).not.toHaveBeenCalled();
    expect(tools.map(({ name }) => name)).toEqual([
      "attest",
      "attest_batch",
      "attest_block",
      "prove_tx_inclusion",
      "verify",
      "verify_block",
      "verify_tx_inclusion",
      "readiness",
      "block_capabilities",
      "get_bundle",
      "get_evidence",
      "attestor_keys",
      "explain_problem",
    ]);
    for (const { inputSchema, outputSchema } of tools)
      expect([inputSchema, outputSchema]).toMatchObject([{ type: "object" }, { type: "object" }]);
    expect(tools[0]).toMatchObject({
      inputSchema: { required: ["txid"], additionalProperties: false },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    });
    expect(tools[4]).toMatchObject({
      inputSchema: {
        // Of the bundle of a transaction, and of an item of a batch.
        properties: { attest: {}, signature: {}, statement: {}, batch: {} },
        required: ["version", "network", "source"],
      },
      annotations: { readOnlyHint: true },
    });
  });

  test("reads the same as HTTP", async () => {
    for (const [name, path] of [
      ["block_capabilities", "/block-capabilities"],
      ["attestor_keys", "/.well-known/attestor-keys.json"],
      ["readiness", "/ready"],
    ] as const) {
      const { structuredContent, isError } = await call(client, name, {});
      expect(isError ?? false).toBe(false);
      expect(structuredContent).toEqual(await (await fetch(`${deployment.url}${path}`)).json());
    }
    const { structuredContent } = await call(client, "explain_problem", { code: "bundle_rejected" });
    expect(structuredContent).toMatchObject({ code: "bundle_rejected", status: 400 });
  });

  test("buys an attestation and a block's, and verifies them", async () => {
    const unpaid = await call(client, "attest", { txid: txid() });
    const required = unpaid.structuredContent as PaymentRequired;
    expect(unpaid.isError).toBe(true);
    expect(required).toMatchObject({
      x402Version: 2,
      resource: { url: "mcp://tool/attest", mimeType: "application/json" },
      accepts: [{ scheme: "exact", amount: "1000", payTo: deployment.sandbox.payTo.algorand }],
    });
    expect(JSON.parse(unpaid.content[0]?.text ?? "")).toEqual(required);

    const payment = await algorandClient(deployment.sandbox).createPaymentPayload(required);
    const bought = await call(client, "attest", { txid: txid() }, payment);
    const bundle = bought.structuredContent as ProofBundle;
    expect(bought.isError ?? false).toBe(false);
    expect(bundle).toMatchObject({ version: 1, source: { txnId: txid() } });
    expect(bought._meta?.["x402/payment-response"]).toMatchObject({
      success: true,
      payer: deployment.sandbox.payers.algorand.address,
      amount: "1000",
    });
    const verified = await call(client, "verify", bundle);
    expect(verified.structuredContent).toMatchObject({ verified: true, checks: { chainAttest: "not_checked" } });
    const online = await call(client, "verify", { ...bundle, chain: "1" });
    expect(online.structuredContent).toMatchObject({ verified: true, checks: { chainAttest: "pass" } });

    const block = { chain: "algorand", height: String(height()) };
    const attested = await call(client, "attest_block", block, await signFor(client, "attest_block", block));
    expect(attested.structuredContent).toMatchObject({ type: "block-attestation", block: { height: height() } });
    const checked = await call(client, "verify_block", attested.structuredContent as BlockBundle);
    expect(checked.structuredContent).toMatchObject({ verified: true });
  });

  test("gets a problem as a tool's result, not as a protocol error", async () => {
    for (const [name, args, problem] of [
      ["attest", { txid: txid(), note: "hi" }, { code: "body_invalid", errors: [{ pointer: "/note" }] }],
      ["attest", {}, { code: "body_invalid", errors: [{ pointer: "/txid" }] }],
      ["attest_block", { chain: "base", height: 1 }, { code: "body_invalid", errors: [{ pointer: "/chain" }] }],
      ["verify", { version: 1 }, { code: "bundle_rejected", report: { verified: false } }],
      ["get_bundle", { id: "A".repeat(43) }, { code: "not_found", status: 404 }],
      ["get_bundle", { id: "short" }, { code: "body_invalid", errors: [{ pointer: "/id" }] }],
      ["readiness", { chain: "base" }, { code: "body_invalid", errors: [{ pointer: "/chain" }] }],
    ] as const) {
      const result = await call(client, name, args);
      expect(result).toMatchObject({ isError: true, structuredContent: problem });
      expect(JSON.parse(result.content[0]?.text ?? "")).toEqual(result.structuredContent);
    }
    await expect(call(client, "attest_everything", {})).rejects.toMatchObject({ code: -32602 });
  });
});

describe("one payment", () => {
  let client: McpClient;
  beforeAll(async () => {
    client = await connectToRevision2026();
  });
  afterAll(() => client.close());

  const attestations = async () => (await outsider(deployment.sandbox).attestations()).length;
  const url = () => `${deployment.url}/attest`;

  test("made over HTTP brings the same bytes over MCP, and buys nothing else", async () => {
    const payment = await sign(url(), { txid: txid() }, algorandClient(deployment.sandbox));
    const { text } = await pay(url(), { txid: txid() }, payment);
    const before = await attestations();
    const replayed = await call(client, "attest", { txid: txid() }, payment);
    expect(replayed.content[0]?.text).toBe(text);
    expect(await attestations()).toBe(before);

    const bundle: ProofBundle = JSON.parse(text);
    expect(await call(client, "attest", { txid: bundle.attest.txnId }, payment)).toMatchObject({
      isError: true,
      structuredContent: { code: "payment_bound_to_other_request" },
    });
    const tampered = { ...bundle, source: { ...bundle.source, hashSha256: "0".repeat(64) } };
    expect(await call(client, "verify", tampered)).toMatchObject({
      isError: true,
      structuredContent: { code: "bundle_rejected", report: { checks: { hashPreimage: "fail" } } },
    });
  });

  test("made over MCP brings the same bytes over HTTP, also when its call was cancelled", async () => {
    const payment = await signFor(client, "attest", { txid: txid() });
    const before = await attestations();
    const cancelled = new AbortController();
    const sent = fetch(endpoint(), {
      method: "POST",
      signal: cancelled.signal,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "attest", arguments: { txid: txid() }, _meta: { "x402/payment": payment } },
      }),
    });
    // The older revisions answer with the head of a stream before there is a result.
    await sent;
    cancelled.abort();
    await expect.poll(attestations, { timeout: 30_000 }).toBe(before + 1);
    const fetched = await pay(url(), { txid: txid() }, payment);
    expect(fetched.status).toBe(200);
    expect((await call(client, "attest", { txid: txid() }, payment)).content[0]?.text).toBe(fetched.text);
    expect(await attestations()).toBe(before + 1);
  });

  test.each([7, "e30=", {}, { x402Version: 2, accepted: {} }])("that is %j is malformed", async (payment) => {
    const result = await call(client, "attest", { txid: txid() }, payment as unknown as PaymentPayload);
    expect(result).toMatchObject({ isError: true, structuredContent: { code: "payment_malformed" } });
  });
});

describe("the endpoint", () => {
  const headers = { accept: "application/json, text/event-stream" };
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

  /** fetch() sets Host by itself. */
  function status(over: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sent = request(endpoint(), {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", ...over },
      });
      sent.on("response", (response) => resolve(response.resume().statusCode)).on("error", reject);
      sent.end(JSON.stringify(list));
    });
  }

  test("accepts requests for its own hosts, from its own pages and without a page", async () => {
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ origin: "https://evil.example" })).toBe(403);
    expect(await status({ origin: "null" })).toBe(403);
    expect(await status({ host: "localhost:4020", origin: "http://[::1]:6274" })).toBe(200);
    expect(await status({ host: "mcp.attestd.example" })).toBe(403);
    await deployment.restart({ public_url: "https://attestd.example", mcp_url: "https://mcp.attestd.example" });
    expect(await status({ host: "mcp.attestd.example", origin: "https://attestd.example" })).toBe(200);
    await deployment.restart({ public_url: undefined, mcp_url: undefined });
  });

  test.each<[string, unknown, Record<string, string>, number, string?]>([
    ["another media type", list, { "content-type": "text/plain" }, 415, "media_type"],
    ["garbage", "{", {}, 400, "body_not_json"],
    ["a member twice", '{"id":1,"id":2}', {}, 400, "body_not_json"],
    ["nothing", "", {}, 400, "body_not_json"],
    ["a batch", [list, list], {}, 400, "body_invalid"],
    ["too much", `"${"x".repeat(3 * 1024 * 1024)}"`, {}, 413, "body_too_large"],
    ["no message", { hello: 1 }, {}, 400],
    ["null", null, {}, 400],
    ["a client that takes no stream", list, { accept: "application/json" }, 406],
  ])("refuses %s", async (_, body, over, status, code) => {
    const answer = await post(endpoint().href, body, { ...headers, ...over });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });

  test("answers a page of this machine", async () => {
    const origin = "http://localhost:6274";
    const preflight = await fetch(endpoint(), {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "mcp-method" },
    });
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Mcp-Method");
    const answer = await post(endpoint().href, list, { ...headers, origin });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  });

  test("has the URL and the revisions of its card", async () => {
    const answer = await fetch(`${deployment.url}/.well-known/mcp/server-card.json`);
    const card = (await answer.json()) as {
      version: string;
      remotes: [{ url: string; supportedProtocolVersions: string[] }];
    };
    const [{ url, supportedProtocolVersions: versions }] = card.remotes;
    expect([url, versions[0]]).toEqual([endpoint().href, "2026-07-28"]);
    for (const protocolVersion of versions.slice(1)) {
      const params = { protocolVersion, capabilities: {}, clientInfo: INFO };
      const { text } = await post(url, { jsonrpc: "2.0", id: 1, method: "initialize", params }, headers);
      const { result } = JSON.parse(text.slice(text.indexOf("{")));
      expect(result).toMatchObject({ protocolVersion, serverInfo: { name: "attestd", version: card.version } });
    }
  });

  test("accepts only POST", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await fetch(endpoint(), { method });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    }
  });
});

describe("docs/agents.md", () => {
  const DOCS = resolve(import.meta.dirname, "../../docs");

  test("names the endpoint and every tool", async () => {
    const page = await readFile(join(DOCS, "agents.md"), "utf8");
    const { mcpServers } = JSON.parse(page.match(/```json\n(.*?)```/s)?.[1] ?? "");
    expect(new URL(mcpServers.attestd.url).pathname).toBe(endpoint().pathname);
    const client = await connectToRevision2026();
    for (const { name } of (await client.listTools()).tools) expect(page).toContain(`\`${name}\``);
    await client.close();
  });

  test("has an example that buys a bundle", async () => {
    await using folder = await temporaryFolder();
    const { algodUrl, payers, sampleTransactions } = deployment.sandbox;
    await mkdir(join(folder.path, ".attestd"));
    const description = { mcpUrl: endpoint().href, algodUrl, payers, sampleTransactions };
    await writeFile(join(folder.path, ".attestd/sandbox.json"), JSON.stringify(description));
    const example = join(DOCS, "examples/buy-over-mcp.mjs");
    const { stdout } = await promisify(execFile)(process.execPath, [example], { cwd: folder.path });
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, source: { txnId: txid() } });
  });
});
