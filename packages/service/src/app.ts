import type { IncomingMessage } from "node:http";
import { excerpt } from "@attestd/proof/excerpt";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Logger } from "pino";
import { SAME_HEADER } from "./calls/asking.ts";
import type { Catalogue, Endpoint } from "./catalogue/catalogue.ts";
import type { Operation, Operations } from "./endpoints/operations.ts";
import type { Door } from "./endpoints/transport.ts";
import { type Answer, problemAnswer } from "./http/answer.ts";
import { preflight, readable } from "./http/cors.ts";
import { allowedMethods } from "./http/methods.ts";
import { type PaidRouteOptions, paidRoute } from "./http/paid.ts";
import type { RateLimit } from "./http/rate-limit.ts";
import { documentRoute, readRoute } from "./http/read.ts";
import { checked, type EndpointRoute, type Route } from "./http/route.ts";
import { verifyRoute } from "./http/verify.ts";
import { Problem } from "./problems.ts";

export type RoutesOptions = PaidRouteOptions & {
  catalogue: Catalogue;
  /** What each endpoint of the catalogue does. */
  operations: Operations;
};

export type AppOptions = RoutesOptions & {
  /** Those of the catalogue, where they are shared with another way to them. */
  routes?: readonly EndpointRoute[];
  /** Other protocols, each on its own path. */
  doors?: readonly Door[];
  /** Absent: requests are not limited. */
  rateLimit?: RateLimit;
  log: Logger;
};

export type App = Hono<{ Bindings: HttpBindings }>;

/** A route for each endpoint of the catalogue; what is answered on each is decided by the operation behind it. */
export function createRoutes(options: RoutesOptions): EndpointRoute[] {
  return Object.entries(options.catalogue).map(([id, endpoint]) => {
    const operation = options.operations[id];
    if (!operation) throw new Error(`nothing is done for the endpoint ${id}`);
    const { method, path, body } = endpoint;
    const route = checked(endpoint, routeOf(endpoint, operation, options));
    return { method, path, maxBytes: body?.maxBytes ?? 0, route };
  });
}

/** Every route of the service, doors and what is found nowhere among them. */
export function createApp(options: AppOptions): App {
  const { routes = createRoutes(options), doors = [], rateLimit, origin, log } = options;
  const app: App = new Hono();
  if (rateLimit) {
    app.use(async (c, next) => {
      await rateLimit(c.env.incoming);
      await next();
    });
  }
  for (const { method, path, route } of routes) {
    app.on(method, path, async (c) =>
      respond(c, await route(c.env.incoming, { params: c.req.param(), query: c.req.query() })),
    );
  }
  for (const { methods, path, handle } of doors)
    app.on([...methods], path, async (c) => readable(await handle(c.req.raw)));

  const paths = [
    ...routes.map(({ path, method }) => ({ path, methods: [method] })),
    ...doors.map(({ path, methods }) => ({ path, methods })),
  ];
  app.notFound((c) => {
    const allow = allowedMethods(c.req.path, paths);
    if (!allow)
      return respond(c, problemAnswer(new Problem("not_found", `There is nothing at ${excerpt(c.req.path)}.`), origin));
    if (c.req.method === "OPTIONS") return respond(c, preflight(allow));
    const { headers, ...answer } = problemAnswer(
      new Problem("method_not_allowed", `${c.req.path} takes ${allow}.`),
      origin,
    );
    return respond(c, { ...answer, headers: { ...headers, allow } });
  });
  app.onError((error, c) => respond(c, failureAnswer(error, c.env.incoming, { origin, log })));
  return app;
}

/** Words what a route threw: a problem as it is; anything else is our own failure, of which the log knows more. */
export function failureAnswer(
  error: unknown,
  { method, url, headers }: IncomingMessage,
  { origin, log }: Pick<AppOptions, "origin" | "log">,
): Answer {
  if (error instanceof Problem) return problemAnswer(error, origin);
  log.error({ err: error, method, path: excerpt(url?.split("?", 1)[0] ?? "") }, "a request failed");
  const members = headers["payment-signature"] === undefined ? {} : SAME_HEADER;
  return problemAnswer(new Problem("internal", "The service failed to answer.", { members }), origin);
}

function respond(c: Context, { status, headers, body }: Answer): Response {
  return c.newResponse(body, status as ContentfulStatusCode, { ...headers });
}

function routeOf(endpoint: Endpoint, operation: Operation, paid: PaidRouteOptions): Route {
  switch (operation.kind) {
    case "paid":
      return paidRoute(endpoint, operation, paid);
    case "verify":
      return verifyRoute(endpoint, operation);
    case "read":
      return readRoute(endpoint, operation);
    case "document":
      return documentRoute(endpoint, operation);
  }
}
