import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { jsonText } from "./json.ts";

/** A limit that no batch of the sandbox's callers reaches. */
const MAX_BODY_BYTES = 1 << 20;

/** The error object of a JSON-RPC answer, for a method to throw. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Codes of JSON-RPC 2.0, section 5.1. */
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
const PARSE_ERROR = -32700;

/**
 * Answers one method call. `params` is unchecked; usually it is a list.
 * @throws {RpcError} for the caller; any other error is answered as an internal error with its message
 */
export type RpcHandler = (method: string, params: unknown) => unknown;

/**
 * A fetch handler for JSON-RPC 2.0 over HTTP: single calls, batches (handled together, answered in order) and
 * notifications. Like geth and Solana's validators, it accepts only POST (405) of `application/json` (415): web pages
 * cannot send that media type across origins, so they cannot call a sandbox. Bodies over 1 MiB are 413. BigInts in results
 * are written as JSON integers of any size.
 */
export function serveJsonRpc(handle: RpcHandler): Hono["fetch"] {
  const app = new Hono();
  app.post("*", async (c, next) => {
    if (!/^application\/json\b/i.test(c.req.header("content-type") ?? ""))
      return c.text("the content type is not application/json", 415);
    await next();
  });
  const tooLarge = (c: Context) => c.text("the body is too large", 413, { connection: "close" });
  app.post("*", bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }), async (c) => {
    let body: unknown;
    try {
      body = await c.req.json();
    } catch {
      return json(failure(null, new RpcError(PARSE_ERROR, "Parse error")));
    }
    if (!Array.isArray(body)) return json(await answer(handle, body));
    if (body.length === 0) return json(failure(null, new RpcError(INVALID_REQUEST, "Invalid Request")));
    const answers = await Promise.all(body.map((call) => answer(handle, call)));
    const results = answers.filter((one) => one !== undefined);
    return json(results.length > 0 ? results : undefined);
  });
  app.all("*", (c) => c.body(null, 405, { allow: "POST" }));
  return app.fetch;
}

/** Answers one call; undefined for a notification, which has no id. */
async function answer(handle: RpcHandler, call: unknown): Promise<object | undefined> {
  const { id, method, params } = (call ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== "string") return failure(null, new RpcError(INVALID_REQUEST, "Invalid Request"));
  try {
    const result = await handle(method, params);
    return id === undefined ? undefined : { jsonrpc: "2.0", id, result: result ?? null };
  } catch (error) {
    return id === undefined ? undefined : failure(id, error);
  }
}

function failure(id: unknown, thrown: unknown): object {
  const { code, message, data } =
    thrown instanceof RpcError ? thrown : new RpcError(INTERNAL_ERROR, (thrown as Error).message);
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function json(value: object | undefined): Response {
  if (value === undefined) return new Response(null, { status: 204 });
  return new Response(jsonText(value), { headers: { "content-type": "application/json" } });
}

/** Calls a method of another JSON-RPC server. @returns its `result` */
export type RpcCall = (method: string, params: unknown) => Promise<unknown>;

/**
 * Makes a client of the JSON-RPC server at `url`.
 * @returns a function that throws the server's own error as an {@link RpcError}, and `fetch`'s when there is no answer
 */
export function jsonRpcClient(url: string): RpcCall {
  return async (method, params) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as {
      result?: unknown;
      error?: { code: number; message: string; data?: unknown };
    };
    if (error) throw new RpcError(error.code, error.message, error.data);
    return result;
  };
}
