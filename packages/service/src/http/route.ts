import type { z } from "zod";
import type { Endpoint } from "../catalogue.ts";
import { Problem } from "../problems.ts";
import type { HttpContext } from "./body.ts";

/** The parameters of a request, as its endpoint's schemas give them. */
export type Parameters = { params: Readonly<Record<string, string>>; query: Readonly<Record<string, string>> };

export type Route = (c: HttpContext, parameters: Parameters) => Response | Promise<Response>;

/** Holds a request's parameters to the schemas of its endpoint before the route sees it. */
export function checked({ params, query }: Endpoint, route: Route): (c: HttpContext) => Response | Promise<Response> {
  return (c) =>
    route(c, {
      params: params ? strings(params, c.req.param(), nothingThere) : {},
      query: query ? strings(query, c.req.query(), unfitQuery) : {},
    });
}

function strings(
  schema: z.ZodObject,
  given: Record<string, string>,
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
