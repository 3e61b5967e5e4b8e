import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { type Json, jsonText } from "../json.ts";
import { Rejection } from "./rejection.ts";

/** An error of algod or the indexer: `{"message": …}`. */
export function apiError(status: 400 | 401 | 404 | 500 | 502 | 503, message: string): HTTPException {
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

/**
 * An empty REST API of a node: an unknown route is 404, a rejection 400 with its message, any other error 500.
 * @param header of the token
 * @param token required on `/v2`, if given
 */
export function restApi(header: string, token: string | undefined): Hono {
  const app = new Hono();
  app.use("/v2/*", async (c, next) => {
    if (token !== undefined && c.req.header(header) !== token) throw apiError(401, "Invalid API Token");
    await next();
  });
  app.notFound(() => json({ message: "Not Found" }, 404));
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    return json({ message: error.message }, error instanceof Rejection ? 400 : 500);
  });
  return app;
}
