import { jsonText } from "./json.ts";

/** More than any batch of the sandbox's callers. */
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
export function serveJsonRpc(handle: RpcHandler): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
    if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
      return new Response("application/json is wanted", { status: 415 });
    }
    const text = await readText(request);
    if (text === undefined) {
      return new Response("the body is too large", { status: 413, headers: { connection: "close" } });
    }

    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return json(failure(null, new RpcError(PARSE_ERROR, "Parse error")));
    }
    if (!Array.isArray(body)) return json(await answer(handle, body));
    if (body.length === 0) return json(failure(null, new RpcError(INVALID_REQUEST, "Invalid Request")));
    const answers = await Promise.all(body.map((call) => answer(handle, call)));
    return json(answers.some((one) => one !== undefined) ? answers.filter((one) => one !== undefined) : undefined);
  };
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

/** The body as text; undefined as soon as it exceeds MAX_BODY_BYTES. */
async function readText(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString("utf8");
}

/** Calls a method of another JSON-RPC server. @returns its `result` */
export type RpcCall = (method: string, params: unknown) => Promise<unknown>;

/**
 * A client of the JSON-RPC server at `url`.
 * @returns a call that throws the server's own error as an {@link RpcError}, and `fetch`'s when there is no answer
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
