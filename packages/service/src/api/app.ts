import type { RequestListener } from "node:http";
import type { z } from "zod";
import type { Endpoint } from "../catalogue/catalogue.ts";
import { Problem } from "../lib/problems.ts";
import type { Handler, Route, TransportOptions } from "./endpoints/transport.ts";
import { freeHandler } from "./http/free.ts";
import { createListener, type ListenerOptions } from "./http/listener.ts";
import { forBrowsers, type View } from "./http/page.ts";
import { type PaidOptions, paidHandler } from "./http/paid.ts";

export type AppOptions = PaidOptions &
  ListenerOptions &
  Pick<TransportOptions, "catalogue" | "operations"> & {
    /** The page for browsers; undefined if it has not been built. */
    view?: View | undefined;
  };

/** Makes the listener for all requests: the catalogue's endpoints, and the other `routes` (MCP, A2A, the page). */
export function createApp({ catalogue, operations, routes, view, ...options }: AppOptions): RequestListener {
  const ofCatalogue = Object.entries(catalogue).map(([id, endpoint]): Route => {
    const operation = operations[id];
    if (!operation) throw new Error(`the endpoint ${id} has no operation`);
    const { method, path } = endpoint;
    const handle =
      operation.kind === "paid" ? paidHandler(endpoint, operation, options) : freeHandler(endpoint, operation);
    const safe = checked(endpoint, handle);
    return { method, path, handle: endpoint.hasView ? forBrowsers(safe, view) : safe };
  });
  return createListener({ ...options, routes: [...ofCatalogue, ...routes] });
}

const NO_PARAMETERS = { params: {}, query: {} };

/** Checks a request's parameters against its endpoint's schemas before the handler gets them. */
function checked({ params, query }: Endpoint, handle: Handler): Handler {
  if (!params && !query) return (incoming) => handle(incoming, NO_PARAMETERS);
  return (incoming, given) =>
    handle(incoming, {
      params: params
        ? strings(params, given.params, () => new Problem("not_found", "There is nothing at this path."))
        : {},
      query: query ? strings(query, given.query, queryInvalid) : {},
    });
}

function strings(
  schema: z.ZodObject,
  given: Readonly<Record<string, string>>,
  problemOf: (error: z.ZodError) => Problem,
): Record<string, string> {
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw problemOf(parsed.error);
  return parsed.data as Record<string, string>;
}

function queryInvalid({ issues: [issue] }: z.ZodError): Problem {
  return new Problem("query_invalid", `${String(issue?.path[0])} ${issue?.message}.`);
}
