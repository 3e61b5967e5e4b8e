import type { Endpoint } from "../catalogue.ts";
import type { DocumentOperation, ReadOperation } from "../operations.ts";
import { CORS_HEADERS } from "./cors.ts";
import { entityTag, isKnown, json } from "./respond.ts";
import type { Route } from "./route.ts";

/** A route whose answer is looked up each time. */
export function readRoute(endpoint: Endpoint, operation: ReadOperation): Route {
  return async (c, parameters) => {
    const { status, text } = await operation.read(parameters.params);
    if (status !== 200 || endpoint.cacheControl === undefined) return json(c, status, text);
    return cacheable(endpoint, text)(c, parameters);
  };
}

/** A route whose answer stays the same while its text does. */
export function documentRoute(endpoint: Endpoint, operation: DocumentOperation): Route {
  let made: { text: string; route: Route } | undefined;
  return (c, parameters) => {
    const text = operation.text();
    if (made?.text !== text) made = { text, route: cacheable(endpoint, text) };
    return made.route(c, parameters);
  };
}

/** Answers a text that may be kept: all of it, or that the asker has it already. */
function cacheable({ replies, cacheControl = "no-store" }: Endpoint, text: string): Route {
  const etag = entityTag(text);
  const bytes = Buffer.from(text);
  const known = { etag, "cache-control": cacheControl, ...CORS_HEADERS };
  const headers = {
    "content-type": replies[200]?.mediaType ?? "application/json",
    "content-length": String(bytes.length),
    ...known,
  };
  return (c) => (isKnown(c.req.header("if-none-match"), etag) ? c.body(null, 304, known) : c.body(bytes, 200, headers));
}
