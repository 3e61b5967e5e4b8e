import { afterAll, beforeAll, expect, test } from "vitest";
import { type Listening, listen } from "./http.ts";
import { jsonRpcClient, RpcError, serveJsonRpc } from "./jsonrpc.ts";

let server: Listening;

beforeAll(async () => {
  const handler = serveJsonRpc((method, params) => {
    if (method === "echo") return params;
    if (method === "large") return { value: 18446744073709551615n };
    if (method === "fail") throw new RpcError(-32000, "no", { why: 1 });
    throw new Error("broken");
  });
  server = await listen(handler, { server: "base" });
});
afterAll(() => server.close());

const post = (body: string, headers: Record<string, string> = { "content-type": "application/json" }) =>
  fetch(server.url, { method: "POST", headers, body });
const call = (id: unknown, method: string) => JSON.stringify({ jsonrpc: "2.0", id, method, params: [1] });

test("answers a call with its id", async () => {
  expect(await (await post(call("a", "echo"))).json()).toEqual({ jsonrpc: "2.0", id: "a", result: [1] });
});

test("writes integers beyond 2^53 with all digits", async () => {
  expect(await (await post(call(1, "large"))).text()).toContain('"value":18446744073709551615');
});

test("answers a batch in the order of its calls, and no notifications", async () => {
  const batch = `[${call(2, "fail")},${JSON.stringify({ jsonrpc: "2.0", method: "echo" })},${call(1, "echo")},3]`;
  expect(await (await post(batch)).json()).toEqual([
    { jsonrpc: "2.0", id: 2, error: { code: -32000, message: "no", data: { why: 1 } } },
    { jsonrpc: "2.0", id: 1, result: [1] },
    { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Invalid Request" } },
  ]);
  expect((await post(`[${JSON.stringify({ jsonrpc: "2.0", method: "echo" })}]`)).status).toBe(204);
});

test("answers invalid JSON, invalid requests and its own errors with different codes", async () => {
  const code = async (body: string) => ((await (await post(body)).json()) as { error: { code: number } }).error.code;
  expect(await code("{")).toBe(-32700);
  expect(await code("[]")).toBe(-32600);
  expect(await code("{}")).toBe(-32600);
  expect(await code(call(1, "other"))).toBe(-32603);
});

test("accepts only POST of JSON up to 1 MiB, which a web page cannot send across origins", async () => {
  expect((await fetch(server.url)).status).toBe(405);
  expect((await post(call(1, "echo"), { "content-type": "text/plain" })).status).toBe(415);
  expect((await post(" ".repeat((1 << 20) + 1))).status).toBe(413);
});

test("the client returns the result, or throws the server's error", async () => {
  const client = jsonRpcClient(server.url);
  expect(await client("echo", [2])).toEqual([2]);
  await expect(client("fail", [])).rejects.toMatchObject({ code: -32000, message: "no", data: { why: 1 } });
});
