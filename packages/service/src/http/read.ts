import type { Endpoint } from "../catalogue/catalogue.ts";
import { takesGzip } from "../endpoints/gzip.ts";
import type { DocumentOperation, ReadOperation } from "../endpoints/operations.ts";
import { type Answer, json } from "./answer.ts";
import { isKnown, type Prepared, prepare, preparing } from "./document.ts";
import type { Route } from "./route.ts";

/** A route whose answer is looked up each time. */
export function readRoute(endpoint: Endpoint, operation: ReadOperation): Route {
  return async ({ headers }, { params }) => {
    const { status, text } = await operation.read(params);
    if (status !== 200 || endpoint.cacheControl === undefined) return json(status, text);
    return whole(prepare(endpoint, text), headers["if-none-match"]);
  };
}

/** A route whose answer stays the same while its text does. */
export function documentRoute(endpoint: Endpoint, operation: DocumentOperation): Route {
  const document = preparing(endpoint, operation);
  return ({ headers }) => {
    const { "accept-encoding": accepted, "if-none-match": known } = headers;
    const prepared = document();
    return whole(takesGzip(accepted?.toString()) ? prepared.compressed : prepared.plain, known);
  };
}

/** All of it, or that the asker has it already. */
function whole({ bytes, etag, headers, unchangedHeaders }: Prepared, ifNoneMatch: string | undefined): Answer {
  return isKnown(ifNoneMatch, etag)
    ? { status: 304, headers: unchangedHeaders, body: null }
    : { status: 200, headers, body: bytes };
}
