import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FaultProxy, type Match, type ProxiedRequest, startFaultProxy } from "./fault-proxy.ts";

/** Answers each request with its number. */
let upstream: Server;
let asked: string[];
let proxy: FaultProxy;

beforeEach(async () => {
  asked = [];
  upstream = createServer(async (request, response) => {
    const body = await text(request);
    asked.push(`${request.method} ${request.url}${body && ` ${body}`}`);
    const { id } = body.startsWith("{") ? JSON.parse(body) : {};
    response.writeHead(200, { "content-type": "application/json", "x-upstream": "yes" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: asked.length }));
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  proxy = await startFaultProxy(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
});
afterEach(async () => {
  await proxy.close();
  upstream.close();
  upstream.closeAllConnections();
});

const get = (path = "/a", signal: AbortSignal | null = null) => fetch(proxy.url + path, { signal });
const post = (body: string, path = "/a") => fetch(proxy.url + path, { method: "POST", body });
const rpc = (method: string, id: number) => post(JSON.stringify({ jsonrpc: "2.0", id, method, params: [] }), "/");
const result = async (response: Promise<Response>) => ((await (await response).json()) as { result: number }).result;

test("everything passes unchanged without a rule, and with one that does not match", async () => {
  proxy.add({ match: { method: "POST" }, fault: { kind: "error", side: "before" } });
  proxy.add({ match: { path: /^\/b/ }, fault: { kind: "error", side: "before" } });
  proxy.add({ match: { rpc: "eth_call" }, fault: { kind: "error", side: "before" } });
  proxy.add({ match: { body: "needle" }, fault: { kind: "error", side: "before" } });
  const response = await get("/a?b=c");
  expect(response.status).toBe(200);
  expect(response.headers.get("x-upstream")).toBe("yes");
  expect(await response.json()).toEqual({ jsonrpc: "2.0", result: 1 });
  expect(asked).toEqual(["GET /a?b=c"]);
});

test.each<[string, Match, () => Promise<Response>]>([
  ["method", { method: "POST" }, () => post("x")],
  ["path", { path: /^\/b\?/ }, () => get("/b?c")],
  ["JSON-RPC method", { rpc: "eth_call" }, () => rpc("eth_call", 1)],
  ["text in the body", { body: "needle" }, () => post("a needle here")],
])("a rule matches by %s", async (_, match, ask) => {
  proxy.add({ match, fault: { kind: "error", side: "before", status: 599 } });
  expect((await get()).status).toBe(200);
  expect((await ask()).status).toBe(599);
});

test("a rule applies from its first to its last request, and can be removed", async () => {
  const remove = proxy.add({ match: {}, from: 2, to: 3, fault: { kind: "error", side: "before" } });
  const statuses = async (count: number) => {
    const seen: number[] = [];
    while (seen.length < count) seen.push((await get()).status);
    return seen;
  };
  expect(await statuses(4)).toEqual([200, 503, 503, 200]);
  proxy.add({ match: {}, fault: { kind: "error", side: "before" } });
  remove();
  expect(await statuses(1)).toEqual([503]);
  proxy.heal();
  expect(await statuses(1)).toEqual([200]);
});

describe("the upstream gets", () => {
  test.each(["error", "reset"] as const)("a request only if the fault comes after forwarding: %s", async (kind) => {
    for (const side of ["before", "after"] as const) {
      proxy.heal();
      proxy.add({ match: {}, to: 1, fault: { kind, side } });
      if (kind === "error") expect((await get()).status).toBe(503);
      else await expect(get()).rejects.toThrow();
      expect(asked).toHaveLength(side === "before" ? 0 : 1);
    }
    expect((await get()).status).toBe(200);
  });

  test("a request that is never answered only if the time-out comes after forwarding", async () => {
    proxy.add({ match: {}, to: 1, fault: { kind: "timeout", side: "before" } });
    const client = new AbortController();
    const hung = get("/a", client.signal);
    expect(await result(get("/b")), "the next request passes").toBe(1);
    client.abort();
    await expect(hung).rejects.toThrow();
    expect(asked).toEqual(["GET /b"]);

    proxy.heal();
    const forwarded = Promise.withResolvers<void>();
    proxy.add({ match: {}, fault: { kind: "timeout", side: "after" }, onAfter: () => forwarded.resolve() });
    const late = new AbortController();
    const waiting = get("/c", late.signal);
    await forwarded.promise;
    late.abort();
    await expect(waiting).rejects.toThrow();
    expect(asked).toEqual(["GET /b", "GET /c"]);
  });

  test("a duplicate request twice, and its second answer is returned", async () => {
    proxy.add({ match: {}, fault: { kind: "duplicate" } });
    expect(await result(post("x"))).toBe(2);
    expect(asked).toEqual(["POST /a x", "POST /a x"]);
  });
});

describe("the client gets", () => {
  test("the status of a truncated answer, and no complete body", async () => {
    proxy.add({ match: {}, fault: { kind: "truncated" } });
    const response = await get();
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test("the whole answer byte by byte", async () => {
    proxy.add({ match: {}, fault: { kind: "trickle", msPerByte: 1 } });
    const response = await get();
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(1);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual({ jsonrpc: "2.0", result: 1 });
  });

  test("the answer that the rule has changed", async () => {
    const change = (response: { status: number; headers: Record<string, string>; body: Buffer }) => ({
      ...response,
      status: 201,
      body: Buffer.concat([response.body, Buffer.from(" ")]),
    });
    proxy.add({ match: {}, fault: { kind: "wrong", change } });
    const response = await get();
    expect([response.status, await response.text()]).toEqual([201, '{"jsonrpc":"2.0","result":1} ']);
  });

  test("the oldest answer to the same request, without a request to the upstream", async () => {
    expect(await result(get("/a"))).toBe(1);
    expect(await result(get("/b"))).toBe(2);
    proxy.add({ match: {}, fault: { kind: "stale" } });
    expect(await result(get("/b"))).toBe(2);
    expect(await result(get("/new")), "there is no older answer").toBe(3);
    expect(asked).toHaveLength(3);
  });

  test("a stale JSON-RPC answer with the id of the request", async () => {
    await rpc("eth_blockNumber", 1);
    proxy.add({ match: {}, fault: { kind: "stale" } });
    expect(await (await rpc("eth_blockNumber", 7)).json()).toEqual({ jsonrpc: "2.0", id: 7, result: 1 });
  });

  test("a stale answer by another key, such as that of an earlier round", async () => {
    const like = ({ path }: ProxiedRequest) => path.replace(/\d+/, "N");
    proxy.add({ match: { path: /^\/after\// }, from: 2, fault: { kind: "stale", like } });
    expect(await result(get("/after/10"))).toBe(1);
    expect(await result(get("/after/11"))).toBe(1);
  });
});

test("hooks run before and after the effect, and the client waits for them", async () => {
  const seen: string[] = [];
  proxy.add({
    match: {},
    onBefore: ({ path }) => void seen.push(`before ${path}, ${asked.length} asked`),
    onAfter: (_, { status }) => void seen.push(`after ${status}, ${asked.length} asked`),
  });
  await get();
  expect(seen).toEqual(["before /a, 0 asked", "after 200, 1 asked"]);
});

test("a forwarded POST is completed after its client has closed the connection", async () => {
  const gone = new AbortController();
  const done = Promise.withResolvers<void>();
  proxy.add({ match: {}, onBefore: () => gone.abort(), onAfter: () => done.resolve() });
  await expect(fetch(proxy.url, { method: "POST", body: "x", signal: gone.signal })).rejects.toThrow();
  await done.promise;
  expect(asked).toEqual(["POST / x"]);
});

test("down refuses connections, and up listens on the same port", async () => {
  expect(await result(get())).toBe(1);
  await proxy.down();
  await expect(get()).rejects.toThrow();
  await proxy.up();
  expect(await result(get())).toBe(2);
});

test("close ends waiting requests", async () => {
  const held = Promise.withResolvers<void>();
  proxy.add({ match: {}, fault: { kind: "timeout", side: "before" }, onBefore: () => held.resolve() });
  const hung = get();
  hung.catch(() => undefined);
  await held.promise;
  await proxy.close();
  await expect(hung).rejects.toThrow();
});
