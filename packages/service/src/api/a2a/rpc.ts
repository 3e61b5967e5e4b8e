import type { JsonValue } from "@attestd/proof/json";
import { z } from "zod";
import { problemOf } from "../endpoints/answer.ts";
import type { Received } from "../endpoints/body.ts";
import { membersOf } from "../endpoints/messages.ts";
import type { TransportOptions } from "../endpoints/transport.ts";

/** Codes of JSON-RPC 2.0 (section 5.1) and of A2A 0.3.0 (section 8). */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Any other refusal. The problem document has the reason. */
  refused: -32000,
  taskNotFound: -32001,
  taskNotCancelable: -32002,
} as const;

/** A JSON-RPC error without a problem document. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "RpcError";
    this.code = code;
  }
}

/** @param bundle for a call that verifies: the bundle, taken out of the params @throws RpcError; Problem */
export type Method = (params: JsonValue | undefined, bundle: Uint8Array | undefined) => Promise<object>;

export type Methods = Readonly<Record<string, Method>>;

/** A value that `parseJson` returned. */
export const Json = z.custom<JsonValue>();
const Id = z.union([z.string().max(128), z.int(), z.null()]);
/** Notifications are not supported: every request has an id. Other members are ignored. */
const Envelope = z.object({ jsonrpc: z.literal("2.0"), id: Id, method: z.string(), params: Json.optional() });

/**
 * Answers one JSON-RPC 2.0 request. A problem becomes an error whose `data` is the problem document (RFC 9457), with
 * the seconds of Retry-After as `retryAfter`.
 */
export async function answer(
  received: Received,
  methods: Methods,
  { origin, log }: Pick<TransportOptions, "origin" | "log">,
): Promise<object> {
  let id: z.infer<typeof Id> = null;
  try {
    if ("notJson" in received) throw new RpcError(RPC.parseError, received.notJson);
    const { message: json, bundle } = received;
    id = idOf(json);
    const request = Envelope.safeParse(json);
    if (!request.success)
      throw new RpcError(RPC.invalidRequest, "The message is not a JSON-RPC 2.0 request with an id.");
    const { method: name, params } = request.data;
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (!method) throw new RpcError(RPC.methodNotFound, "There is no such method.");
    return { jsonrpc: "2.0", id, result: await method(params, bundle) };
  } catch (error) {
    return { jsonrpc: "2.0", id, error: errorOf(error) };
  }

  function errorOf(error: unknown): object {
    if (error instanceof RpcError) return { code: error.code, message: error.message };
    const problem = problemOf(error, { log, mayBePaid: true, path: "/a2a" });
    const { status, message, retryAfter } = problem;
    const data = { ...problem.toJSON(origin), ...(retryAfter !== undefined && { retryAfter }) };
    return { code: codeOf(status), message, data };
  }
}

function codeOf(status: number): number {
  if (status === 500) return RPC.internalError;
  return status === 400 || status === 413 ? RPC.invalidParams : RPC.refused;
}

/** Returns the id of a possibly invalid request; null if it cannot be read (JSON-RPC 2.0, section 5). */
function idOf(json: JsonValue): z.infer<typeof Id> {
  return Id.safeParse(membersOf(json).id).data ?? null;
}
