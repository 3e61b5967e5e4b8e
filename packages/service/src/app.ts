import type { RequestListener } from "node:http";
import type { z } from "zod";
import type { Catalogue, Endpoint } from "./catalogue/catalogue.ts";
import type { Operation, Operations } from "./endpoints/operations.ts";
import type { Handler, Route } from "./endpoints/route.ts";
import { createListener, type ListenerOptions } from "./http/listener.ts";
import { type PaidOptions, paidHandler } from "./http/paid.ts";
import { documentHandler, readHandler } from "./http/read.ts";
import { verifyHandler } from "./http/verify.ts";
import { Problem } from "./problems.ts";

export type AppOptions = PaidOptions &
  Omit<ListenerOptions, "routes"> & {
    catalogue: Catalogue;
    /** What each endpoint of the catalogue does. */
    operations: Operations;
    /** Routes that are not in the catalogue: those of MCP, of A2A and of the page. */
    routes?: readonly Route[];
  };

/** Answers every request to the service: a route for each endpoint of the catalogue, and the others. */
export function createApp({ catalogue, operations, routes = [], ...options }: AppOptions): RequestListener {
  const ofCatalogue = Object.entries(catalogue).map(([id, endpoint]): Route => {
    const operation = operations[id];
    if (!operation) throw new Error(`the endpoint ${id} has no operation`);
    const { method, path } = endpoint;
    return { method, path, handle: checked(endpoint, handlerOf(endpoint, operation, options)) };
  });
  return createListener({ ...options, routes: [...ofCatalogue, ...routes] });
}

function handlerOf(endpoint: Endpoint, operation: Operation, paid: PaidOptions): Handler {
  switch (operation.kind) {
    case "paid":
      return paidHandler(endpoint, operation, paid);
    case "verify":
      return verifyHandler(endpoint, operation);
    case "read":
      return readHandler(endpoint, operation);
    case "document":
      return documentHandler(endpoint, operation);
  }
}

const NO_PARAMETERS = { params: {}, query: {} };

/** Checks a request's parameters by the schemas of its endpoint before the handler gets them. */
function checked({ params, query }: Endpoint, handle: Handler): Handler {
  if (!params && !query) return (incoming) => handle(incoming, NO_PARAMETERS);
  return (incoming, given) =>
    handle(incoming, {
      params: params ? strings(params, given.params, notFound) : {},
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

function notFound(): Problem {
  return new Problem("not_found", "There is nothing at this path.");
}

function queryInvalid({ issues: [issue] }: z.ZodError): Problem {
  return new Problem("query_invalid", `${String(issue?.path[0])} ${issue?.message}.`);
}
