import type { Endpoint } from "../catalogue.ts";
import type { DocumentOperation, ReadOperation } from "../operations.ts";
import type { HttpContext } from "./body.ts";
import { isKnown, type Prepared, prepare, preparing } from "./document.ts";
import { json } from "./respond.ts";
import type { Route } from "./route.ts";

/** A route whose answer is looked up each time. */
export function readRoute(endpoint: Endpoint, operation: ReadOperation): Route {
  return async (c, { params }) => {
    const { status, text } = await operation.read(params);
    if (status !== 200 || endpoint.cacheControl === undefined) return json(c, status, text);
    return send(c, prepare(endpoint, text));
  };
}

/** A route whose answer stays the same while its text does. */
export function documentRoute(endpoint: Endpoint, operation: DocumentOperation): Route {
  const document = preparing(endpoint, operation);
  return (c) => send(c, document());
}

/** All of it, or that the asker has it already. */
function send(c: HttpContext, { bytes, etag, headers, unchangedHeaders }: Prepared): Response {
  return isKnown(c.req.header("if-none-match"), etag)
    ? c.body(null, 304, unchangedHeaders)
    : c.body(bytes, 200, headers);
}
