import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { type Json, jsonText } from "../json.ts";
import { Rejection } from "./rejection.ts";

/** An error of algod or the indexer: `{"message": …}`. */
export function apiError(status: 400 | 404 | 500 | 503, message: string): HTTPException {
  return new HTTPException(status, { res: json({ message }, status) });
}

/** JSON in one line as Go's `encoding/json` writes it, with `<`, `>` and `&` escaped. */
export function json(value: Json, status = 200): Response {
  const text = jsonText(value).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return jsonResponse(`${text}\n`, status);
}

/** Writes indented JSON, like algod for everything that it can also write as msgpack. */
export function indentedJson(value: Json): Response {
  return jsonResponse(jsonText(value, 2), 200);
}

function jsonResponse(text: string, status: number): Response {
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

export function msgpack(bytes: Uint8Array, headers: Record<string, string> = {}): Response {
  return new Response(new Uint8Array(bytes), { headers: { ...headers, "content-type": "application/msgpack" } });
}

/** A round or id in a path. @throws HTTPException 400 when it is not an unsigned integer of 64 bits */
export function pathInteger(name: string, text: string): number {
  const isInteger = /^\d+$/.test(text);
  if (isInteger && BigInt(text) < 2n ** 64n) return Number(text);
  const trouble = isInteger ? "value out of range" : "invalid syntax";
  throw apiError(
    400,
    `Invalid format for parameter ${name}: error binding string parameter: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${trouble}`,
  );
}

/**
 * An empty REST API of a node: an unknown route is 404, one with another method 405, a rejection 400 with its message, any
 * other error 500. `OPTIONS` is 204 everywhere.
 */
export function restApi(): Hono {
  const app = new Hono();
  const isRoute = (asked: string) =>
    app.routes.some(({ method, path }) => method !== "ALL" && isLike(path.split("/"), asked.split("/")));
  app.use("*", async ({ req }, next) => {
    if (req.method === "OPTIONS") return new Response(null, { status: 204 });
    if (req.method === "HEAD") return new Response(null, { status: isRoute(req.path) ? 405 : 404 });
    await next();
    return undefined;
  });
  app.notFound(({ req }) =>
    isRoute(req.path) ? json({ message: "Method Not Allowed" }, 405) : json({ message: "Not Found" }, 404),
  );
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    return json({ message: error.message }, error instanceof Rejection ? 400 : 500);
  });
  return app;
}

/** Whether a path matches a route, whose parameters begin with a colon. */
function isLike(route: string[], path: string[]): boolean {
  return route.length === path.length && route.every((part, index) => part.startsWith(":") || part === path[index]);
}
