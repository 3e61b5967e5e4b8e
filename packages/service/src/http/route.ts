import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import type { Endpoint } from "../catalogue/catalogue.ts";
import { Problem } from "../problems.ts";
import type { Answer } from "./answer.ts";

/** The parameters of a request, as its endpoint's schemas give them. */
export type Parameters = { params: Readonly<Record<string, string>>; query: Readonly<Record<string, string>> };

/** @throws Problem what is not answered with success */
export type Route = (incoming: IncomingMessage, parameters: Parameters) => Answer | Promise<Answer>;

/** How the requests to an endpoint are answered; the path in Hono's notation, and the most that a body may have. */
export type EndpointRoute = Pick<Endpoint, "method" | "path"> & { maxBytes: number; route: Route };

/** Holds a request's parameters to the schemas of its endpoint before the route sees it. */
export function checked({ params, query }: Endpoint, route: Route): Route {
  return (incoming, given) =>
    route(incoming, {
      params: params ? strings(params, given.params, nothingThere) : {},
      query: query ? strings(query, given.query, unfitQuery) : {},
    });
}

function strings(
  schema: z.ZodObject,
  given: Readonly<Record<string, string>>,
  refuse: (error: z.ZodError) => Problem,
): Record<string, string> {
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw refuse(parsed.error);
  return parsed.data as Record<string, string>;
}

function nothingThere(): Problem {
  return new Problem("not_found", "There is nothing at this path.");
}

function unfitQuery({ issues: [issue] }: z.ZodError): Problem {
  return new Problem("query_invalid", `${String(issue?.path[0])} ${issue?.message}.`);
}
