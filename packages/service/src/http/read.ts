import type { Endpoint } from "../catalogue.ts";
import type { DocumentOperation, ReadOperation } from "../operations.ts";
import type { Route } from "./route.ts";

/** A route whose answer is looked up each time. */
export function readRoute({ replies, cacheControl = "no-store" }: Endpoint, operation: ReadOperation): Route {
  return async (c, { params }) => {
    const { status, text } = await operation.read(params);
    return c.body(text, status as 200, {
      "content-type": replies[status]?.mediaType ?? "application/json",
      "cache-control": status === 200 ? cacheControl : "no-store",
    });
  };
}

/** A route whose answer stays the same. */
export function documentRoute({ replies, cacheControl = "no-store" }: Endpoint, operation: DocumentOperation): Route {
  const headers = { "content-type": replies[200]?.mediaType ?? "application/json", "cache-control": cacheControl };
  return (c) => c.body(operation.text, 200, headers);
}
