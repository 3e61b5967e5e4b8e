import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Deployment, post, startDeployment } from "./deployment.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] });
});
afterAll(() => deployment.close());

const BASE_HASH = `0x${"ab".repeat(32)}`;
const txid = () => deployment.sandbox.sampleTransactions.algorand;

describe("an invalid request to /attest gets the error, never a price", () => {
  test.each<[string, () => unknown, number, string, string?]>([
    ["no JSON", () => "txid=1", 400, "body_not_json"],
    ["half JSON", () => '{"txid":', 400, "body_not_json"],
    ["a member twice", () => `{"txid":"${txid()}","txid":"${txid()}"}`, 400, "body_not_json", "/txid"],
    ["no txid", () => ({ chain: "algorand" }), 400, "body_invalid", "/txid"],
    ["a list", () => [], 400, "body_invalid", ""],
    ["51 characters", () => ({ txid: txid().slice(1) }), 400, "body_invalid", "/txid"],
    ["a number", () => ({ txid: 7 }), 400, "body_invalid", "/txid"],
    ["an unknown member", () => ({ txid: txid(), note: "hi" }), 400, "body_invalid", "/note"],
    ["an unknown chain", () => ({ txid: txid(), chain: "solana" }), 400, "body_invalid", "/chain"],
    ["a Base hash on Algorand", () => ({ txid: BASE_HASH, chain: "algorand" }), 400, "body_invalid", "/chain"],
    ["an Algorand id on Base", () => ({ txid: txid(), chain: "base" }), 400, "body_invalid", "/chain"],
    ["deep nesting", () => "[".repeat(1000), 400, "body_not_json"],
    ["1 MB of brackets", () => "[".repeat(1024 * 1024), 413, "body_too_large"],
  ])("%s", async (_, body, status, code, pointer) => {
    const answer = await post(`${deployment.url}/attest`, body());
    expect(answer).toMatchObject({ status, json: { code, status } });
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.headers.get("payment-required")).toBeNull();
    if (pointer !== undefined) expect(answer.json.errors).toMatchObject([{ pointer }]);
  });

  test("another media type", async () => {
    const answer = await post(`${deployment.url}/attest`, { txid: txid() }, { "content-type": "text/plain" });
    expect(answer).toMatchObject({ status: 415, json: { code: "media_type" } });
  });

  test("a compressed body, which is not decompressed", async () => {
    for (const path of ["/attest", "/verify", "/mcp", "/a2a"]) {
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      const body = gzipSync(JSON.stringify({ txid: txid() }));
      const answer = await fetch(`${deployment.url}${path}`, { method: "POST", headers, body });
      expect([path, answer.status, await answer.json()]).toMatchObject([path, 415, { code: "media_type" }]);
    }
    const asIt = { "content-encoding": "identity" };
    expect((await post(`${deployment.url}/attest`, { txid: txid() }, asIt)).status).toBe(402);
  });

  test.each([
    "not base64!",
    "aGVsbG8=",
    Buffer.from("[]").toString("base64"),
    Buffer.from('{"x402Version":2}').toString("base64"),
  ])("a PAYMENT-SIGNATURE of %s", async (header) => {
    const answer = await post(`${deployment.url}/attest`, { txid: txid() }, { "payment-signature": header });
    expect(answer).toMatchObject({ status: 400, json: { code: "payment_malformed" } });
  });

  test("a payment without a body", async () => {
    const headers = { "payment-signature": Buffer.from("{}").toString("base64") };
    const answer = await fetch(`${deployment.url}/attest`, { method: "POST", headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "payment_without_body" });
  });

  test("a payment of another scheme gets the offers and the reason", async () => {
    const payment = { x402Version: 1, accepted: { scheme: "exact", network: "algorand-mainnet" }, payload: {} };
    const headers = { "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64") };
    const answer = await post(`${deployment.url}/attest`, { txid: txid() }, headers);
    expect(answer).toMatchObject({
      status: 402,
      json: { error: "x402Version is not 2", accepts: [{ amount: "1000" }] },
    });
  });
});

/** 60 KB of a stranger's text in each place where a request may have text. */
const LONG = "zebra".repeat(12_000);
const MANY = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}${"zebra".repeat(11)}`, 0]));
const DEEP = Array.from({ length: 12 }).reduce<unknown>((value) => ({ [LONG.slice(0, 5_000)]: value }), 1);
const call = (method: unknown, params: unknown, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });
const said = (...parts: unknown[]) => call("message/send", { message: { role: "user", messageId: "m", parts } });
const HOSTILE: [path: string, body: unknown][] = [
  ...["/attest", "/attest-block", "/prove-tx-inclusion", "/verify", "/verify-block", "/verify-tx-inclusion"].flatMap(
    (path) =>
      [LONG, { txid: LONG, chain: LONG }, MANY, DEEP, [MANY], `{"${LONG}":1,"${LONG}":2}`].map((b) => [path, b]),
  ),
  ...[
    `{"${LONG}":1,"${LONG}":2}`,
    call("tools/list", {}, LONG),
    call(LONG, {}),
    call("tools/call", { name: LONG }),
    call("tools/call", { name: "attest", arguments: MANY }),
    call("tools/call", { name: "attest", arguments: { txid: LONG } }),
    call("tools/call", { name: "verify", arguments: MANY }),
    call("tools/call", { name: "verify", arguments: { chain: LONG } }),
    call("tools/call", { name: "get_bundle", arguments: { id: LONG } }),
    call("tools/call", { name: "explain_problem", arguments: MANY }),
    call("initialize", { protocolVersion: LONG.slice(0, 50_000), capabilities: MANY, clientInfo: { name: LONG } }),
    { ...call("tools/list", {}), ...MANY },
    call("tools/list", { cursor: LONG, _meta: { progressToken: LONG.slice(0, 15_000) } }),
  ].map((body): [string, unknown] => ["/mcp", body]),
  ...[
    call(LONG, {}),
    call("tasks/get", { id: LONG }),
    call("tasks/get", MANY),
    call("message/send", MANY, LONG),
    said({ kind: "data", data: { skill: LONG } }),
    said({ kind: "data", data: { skill: "attest", ...MANY } }),
    said({ kind: "data", data: { skill: "verify", ...MANY } }),
    said({ kind: LONG }),
    said({ kind: "text", text: LONG }),
    said({ kind: "text", text: `{"${LONG}":1,"${LONG}":2}` }),
  ].map((body): [string, unknown] => ["/a2a", body]),
].map(([path, body]) => [path as string, body]);

test("no transport echoes a stranger's text at length", async () => {
  const headers = { accept: "application/json, text/event-stream" };
  const lengths = [];
  for (const [path, body] of HOSTILE) {
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    const { status, text } = await post(`${deployment.url}${path}`, sent, headers);
    const isLong = text.length > 8 * 1024 && !text.includes('"inputSchema"');
    if (isLong || /(zebra){30}/.test(text))
      lengths.push({ path, sent: sent.slice(0, 80), status, length: text.length, text: text.slice(0, 200) });
  }
  for (const path of [`/${LONG.slice(0, 12_000)}`, `/verify?chain=${LONG.slice(0, 12_000)}`]) {
    const { text } = await post(`${deployment.url}${path}`, {});
    expect(text).not.toMatch(/(zebra){30}/);
  }
  for (const header of ["content-type", "content-encoding"]) {
    const { status, text } = await post(`${deployment.url}/verify`, {}, { [header]: `a/${LONG.slice(0, 12_000)}` });
    expect([status, text.includes("zebra".repeat(30))]).toEqual([415, false]);
  }
  expect(lengths).toEqual([]);
});

describe("routes", () => {
  test("a probe without a body gets every offer, in x402's form and in the interface's", async () => {
    const answer = await fetch(`${deployment.url}/attest`, { method: "POST" });
    expect(answer.status).toBe(402);
    const header = JSON.parse(Buffer.from(answer.headers.get("payment-required") ?? "", "base64").toString());
    const { options, ...required } = (await answer.json()) as Record<string, unknown>;
    expect(header).toEqual(required);
    expect(required).toMatchObject({ x402Version: 2, resource: { url: `${deployment.url}/attest` } });
    expect(options).toEqual([
      {
        scheme: "exact",
        network: "algorand-mainnet",
        asset: "31566704",
        payTo: deployment.sandbox.payTo.algorand,
        maxAmountRequired: "1000",
        priceUsdc: "0.001",
        facilitatorUrl: deployment.sandbox.facilitatorUrl,
      },
    ]);
  });

  test("a wrong method gets 405 with the right one, a wrong path 404", async () => {
    const wrong = await fetch(`${deployment.url}/attest`);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await wrong.json()).toMatchObject({ code: "method_not_allowed" });
    const nothing = await fetch(`${deployment.url}/nothing`);
    expect(nothing.status).toBe(404);
    expect(await nothing.json()).toMatchObject({ code: "not_found" });
  });

  test("health and readiness answer, and every problem's type resolves", async () => {
    expect((await fetch(`${deployment.url}/health`)).status).toBe(200);
    const ready = await fetch(`${deployment.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: "pass", reasons: [] }]);
    const { json } = await post(`${deployment.url}/attest`, "{");
    const problem = await fetch(json.type as string);
    expect([problem.status, await problem.json()]).toMatchObject([200, { code: "body_not_json", status: 400 }]);
  });

  test("the key history has one key of this ledger", async () => {
    const history = await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).json();
    expect(history).toMatchObject({
      version: 1,
      ledger: deployment.sandbox.ledgerCaip2,
      keys: [{ type: "attestor-key", algorandAddress: deployment.sandbox.attestor.address, origin: deployment.url }],
    });
  });

  test("a body longer than its Content-Length is cut off", async () => {
    const { hostname, port } = new URL(deployment.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /attest HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = "[".repeat(32 * 1024);
    for (let i = 0; i < 4; i++) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    const answer = await new Promise<string>((resolve, reject) => {
      let text = "";
      socket.on("data", (data) => {
        text += data;
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });
});
