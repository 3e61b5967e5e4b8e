import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { openTracer } from "../../packages/service/src/observe/tracing/otlp.ts";
import { settingsFileOf } from "../../packages/service/test/settings.ts";
import { type ReceivedSpan, startOtlpReceiver } from "../helpers/otlp-receiver.ts";
import { startReverseProxy } from "../helpers/reverse-proxy.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { algorandClient, type Deployment, post, sign, startDeployment } from "./deployment.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

let deployment: Deployment;
const lines: string[] = [];
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
let told: Awaited<ReturnType<typeof startReverseProxy>>;
/** `traceparent` of each request to the facilitator, by path. */
const passed = new Map<string, Set<unknown>>();
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  told = await startReverseProxy(() => deployment.sandbox.facilitatorUrl);
  told.meddling = {
    answer(incoming) {
      const seen = passed.get(incoming.url ?? "") ?? new Set();
      passed.set(incoming.url ?? "", seen.add(incoming.headers.traceparent).add(incoming.headers.tracestate));
      return false;
    },
  };
  const log = { write: (line: string) => void lines.push(line) };
  deployment = await startDeployment({ networks: [] }, { log_level: "warn" }, { log });
  await deployment.restart(
    { facilitators: [{ url: told.url, rails: ["algorand"] }] },
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otlp/`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-token=s%20cret",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=not this",
    },
  );
});
afterAll(async () => {
  await deployment.close();
  await receiver[Symbol.asyncDispose]();
  await told[Symbol.asyncDispose]();
});

async function buy(headers: Record<string, string> = {}) {
  const url = `${deployment.url}/attest`;
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  const payment = await sign(url, body, algorandClient(deployment.sandbox));
  const header = encodePaymentSignatureHeader(payment);
  const answer = await post(url, body, { "payment-signature": header, ...headers });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

describe("a purchase whose client traces it", () => {
  let spans: ReceivedSpan[];
  let requestId: string | null;
  const named = (name: string) => spans.filter((span) => span.name === name);
  const one = (name: string) => {
    const [found, ...more] = named(name);
    if (!found || more.length > 0) throw new Error(`${named(name).length} spans are named ${name}`);
    return found;
  };
  beforeAll(async () => {
    const answer = await buy({ traceparent: `00-${TRACE}-${SPAN}-00`, tracestate: "vendor=s3cret" });
    requestId = answer.headers.get("x-request-id");
    // Stopping sends what waits.
    await deployment.restart();
    spans = receiver.spans.filter(({ traceId }) => traceId === TRACE);
  });

  test("is one trace, with a span for each stage", () => {
    const names = spans.map(({ name }) => name);
    for (const name of ["admission", "verify", "source", "settle", "reconcile", "sign", "submit", "seal"])
      expect(names, name).toContain(name);
    expect(one("paid request")).toMatchObject({ kind: 2, parentSpanId: SPAN });
    expect(one("admission").parentSpanId).toBe(one("paid request").spanId);
    expect(one("source").parentSpanId).toBe(one("admission").spanId);
    for (const name of ["settle", "sign", "submit", "seal"])
      for (const span of named(name)) expect(span.parentSpanId, name).toBe(one("paid call").spanId);
    for (const { start, end } of spans) expect(end).toBeGreaterThanOrEqual(start);
    expect(spans.every(({ status }) => status === 0)).toBe(true);
  });

  test("says what it is about, by the ids of the log", () => {
    expect(one("paid request").attributes).toMatchObject({
      "attestd.request_id": requestId,
      "attestd.subject": "transaction",
      "attestd.answer": "delivered",
    });
    expect(one("paid call").attributes).toMatchObject({ "attestd.rail": "algorand", "attestd.outcome": "done" });
    expect(one("paid call").attributes["attestd.key"]).toBe(one("paid request").attributes["attestd.key"]);
    expect(one("paid call").resource).toMatchObject({
      "service.name": "attestd",
      "deployment.environment.name": "test",
    });
  });

  test("names the trace to upstreams on this machine, by a span of ours, and passes on nothing else of the client", () => {
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const path of ["/verify", "/settle"]) {
      const values = [...(passed.get(path) ?? [])].filter((value) => value !== undefined);
      expect(values, path).toEqual([expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))]);
      expect(ids.has(String(values[0]).split("-")[2] ?? ""), path).toBe(true);
    }
    // The facilitator is also asked what it supports, for no request.
    expect([...(passed.get("/supported") ?? [])]).toEqual([undefined]);
  });

  test("reached the receiver by the settings' URL and header", () => {
    expect(new Set(receiver.requests.map(({ url }) => url))).toEqual(new Set(["/otlp/v1/traces"]));
    expect(receiver.requests[0]?.headers).toMatchObject({
      "x-token": "s cret",
      "content-type": "application/x-protobuf",
    });
  });
});

test("a request that is refused is a span with the problem's code, and one without a payment is none", async () => {
  const before = receiver.spans.length;
  const url = `${deployment.url}/attest`;
  const payment = await sign(url, { txid: "A".repeat(52) }, algorandClient(deployment.sandbox));
  const header = encodePaymentSignatureHeader(payment);
  const answer = await post(url, { txid: "A".repeat(52) }, { "payment-signature": header, traceparent: "00-x" });
  expect(answer.status).toBe(404);
  await deployment.restart();
  const spans = receiver.spans.slice(before);
  expect(spans.map(({ name }) => name).toSorted()).toEqual(["admission", "paid request", "source", "verify"]);
  const root = spans.find(({ name }) => name === "paid request");
  expect(root).toMatchObject({ parentSpanId: "", status: 2, attributes: { "error.type": "source_not_found" } });
});

test("the settings decide what is sampled, and not the flag of a client", async () => {
  await deployment.restart({}, { OTEL_TRACES_SAMPLER: "always_off" });
  const before = receiver.spans.length;
  await buy({ traceparent: `00-${TRACE}-${SPAN}-01` });
  await deployment.restart({}, { OTEL_TRACES_SAMPLER: "always_on" });
  expect(receiver.spans.length).toBe(before);
});

test("a flood of spans before a receiver that does not answer is dropped beyond some thousand", async () => {
  const held: ServerResponse[] = [];
  await using slow = await startOtlpReceiver((_, outgoing) => void held.push(outgoing));
  const tracer = openTracer({ ...PLAIN, ...ALWAYS, endpoint: slow.url }, "0", NO_LOG);
  for (let i = 0; i < 20; i++) {
    for (let n = 0; n < 1_000; n++) tracer.work("flood", {}).end();
    await setImmediate();
  }
  await expect.poll(() => held.length).toBeGreaterThan(0);
  for (const outgoing of held) outgoing.writeHead(200).end();
  await tracer.close();
  expect(slow.spans.length).toBeGreaterThanOrEqual(256);
  expect(slow.spans.length).toBeLessThanOrEqual(2_048 + 2 * 256);
});

/** Of `openTracer`, beside the endpoint. */
const PLAIN = { headers: {}, serviceName: "attestd", resourceAttributes: {}, hosts: [] };
const ALWAYS = { sampler: { name: "always_on", ratio: 1 } } as const;
const NO_LOG = { info: () => undefined, warn: () => undefined };

test.each<[does: string, answer: Parameters<typeof startOtlpReceiver>[0]]>([
  ["answers byte by byte without an end", (_, outgoing) => void outgoing.writeHead(200).write("a")],
  ["answers with 64 MB", (_, outgoing) => void outgoing.writeHead(200).end(Buffer.alloc(2 ** 26))],
  ["answers with garbage", (_, outgoing) => void outgoing.writeHead(200).end("<html>")],
  ["asks for an hour of patience", (_, outgoing) => void outgoing.writeHead(429, { "retry-after": "3600" }).end()],
  ["sends us elsewhere", (_, outgoing) => void outgoing.writeHead(307, { location: deployment.url }).end()],
  ["breaks the connection", (incoming) => void incoming.socket.destroy()],
])("a receiver that %s does not keep the service from stopping", async (_, answer) => {
  await using hostile = await startOtlpReceiver(answer);
  const tracer = openTracer({ ...PLAIN, ...ALWAYS, endpoint: hostile.url }, "0", NO_LOG);
  tracer.work("one", {}).end();
  await tracer.close();
  expect(hostile.spans.map(({ name }) => name)).toContain("one");
});

test("a receiver that never answers breaks no purchase, and the log says so", async () => {
  await using silent = await startOtlpReceiver(() => undefined);
  await deployment.restart({}, { OTEL_EXPORTER_OTLP_ENDPOINT: silent.url });
  await buy();
  await expect.poll(() => lines.some((line) => line.includes("traces cannot be sent")), { timeout: 20_000 }).toBe(true);
  await buy();
  await deployment.restart({}, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
});

const SERVICE = new URL("../../packages/service/src/main.ts", import.meta.url).href;
const SETTINGS = new URL("../../packages/service/src/config/settings-file.ts", import.meta.url).href;
/** Prints the modules of OpenTelemetry that the service loads by the time that it listens. */
const LISTING = `
  import { registerHooks } from "node:module";
  const seen = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (found.url.includes("/@opentelemetry/")) seen.add(found.url);
      return found;
    },
  });
  const { startService } = await import(process.argv[2]);
  const { readSettingsFile } = await import(process.argv[3]);
  const settings = readSettingsFile(process.argv[4], process.env);
  const { url, close } = await startService(settings, { sandbox: true, log: { write: () => undefined } });
  await fetch(url + "/health");
  await close();
  console.log(JSON.stringify([...seen]));
`;

test("OpenTelemetry is loaded where a receiver is named, and only there", async () => {
  await using folder = await temporaryFolder();
  const { sandbox } = deployment;
  const script = join(folder.path, "list.mjs");
  await writeFile(script, LISTING);
  const { tables } = await sandboxSettings(sandbox, sandboxFolder(folder.path));
  const file = settingsFileOf(tables);
  const loadedWith = async (more: Record<string, string>) => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, SERVICE, SETTINGS, file], { env: more });
    return JSON.parse(stdout) as string[];
  };
  expect(await loadedWith({})).toEqual([]);
  expect((await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).length).toBeGreaterThan(3);
});
