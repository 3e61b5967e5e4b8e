import type { MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { type Json, jsonText } from "../json.ts";

/** An error of algod or the indexer: `{"message": …}`. */
export function apiError(status: 400 | 401 | 404 | 500, message: string): HTTPException {
  return new HTTPException(status, { res: json({ message }, status) });
}

export function json(value: Json, status = 200): Response {
  return new Response(jsonText(value), { status, headers: { "content-type": "application/json" } });
}

export function msgpack(bytes: Uint8Array, headers: Record<string, string> = {}): Response {
  return new Response(new Uint8Array(bytes), { headers: { ...headers, "content-type": "application/msgpack" } });
}

/** A round or id in a path. @throws HTTPException 400 when it is not an unsigned integer */
export function pathInteger(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw apiError(
    400,
    `Invalid format for parameter ${name}: error binding string parameter: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

/** Requires the token in a header, if one is set. */
export function requireToken(header: string, token: string | undefined): MiddlewareHandler {
  return async (c, next) => {
    if (token !== undefined && c.req.header(header) !== token) throw apiError(401, "Invalid API Token");
    await next();
  };
}
