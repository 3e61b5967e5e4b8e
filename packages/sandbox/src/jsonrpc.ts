/** The longest body taken, in bytes: well over a full batch of anything the sandbox's callers send. */
const MAX_BODY = 1 << 20;

/** The error object of a JSON-RPC answer: a method throws it to say what went wrong in the protocol's own terms. */
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
 * Answers one method call. `params` is whatever the caller sent under that name, by position as a rule.
 * @throws {RpcError} for the caller; anything else thrown is answered as an internal error with its message
 */
export type RpcHandler = (method: string, params: unknown) => unknown;

/**
 * A fetch handler for JSON-RPC 2.0 over HTTP: single calls, batches (answered in the order asked, worked on together)
 * and notifications. As geth and Solana's validators do, it takes only POST (405) of `application/json` (415): the
 * latter also keeps web pages, which cannot send it across origins, from calling a sandbox. Bodies over 1 MiB are 413.
 * BigInts in results are written as JSON integers of any size.
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

/** Answers one call; undefined for a notification, which has no id and gets no answer. */
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
  return new Response(stringify(value), { headers: { "content-type": "application/json" } });
}

function stringify(value: unknown): string {
  // JSON.rawJSON (ES2026) is not yet in TypeScript's libraries.
  const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };
  return JSON.stringify(value, (_, member) => (typeof member === "bigint" ? rawJSON(member.toString()) : member));
}

/** The body as text, or undefined as soon as it proves to be longer than the cap. */
async function readText(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString("utf8");
}

/** Calls a method on another JSON-RPC server and gives its `result`. */
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
