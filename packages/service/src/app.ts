import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import type { Logger } from "pino";
import { SAME_HEADER } from "./calls/asking.ts";
import type { Catalogue, Endpoint } from "./catalogue.ts";
import type { Door } from "./door.ts";
import { preflight, readable } from "./http/cors.ts";
import { allowedMethods } from "./http/methods.ts";
import { type PaidRouteOptions, paidRoute } from "./http/paid.ts";
import type { RateLimit } from "./http/rate-limit.ts";
import { documentRoute, readRoute } from "./http/read.ts";
import { problemResponse } from "./http/respond.ts";
import { checked, type Route } from "./http/route.ts";
import { verifyRoute } from "./http/verify.ts";
import type { Operation, Operations } from "./operations.ts";
import { Problem } from "./problems.ts";

export type AppOptions = PaidRouteOptions & {
  catalogue: Catalogue;
  /** What each endpoint of the catalogue does. */
  operations: Operations;
  /** Other protocols, each on its own path. */
  doors?: readonly Door[];
  /** Absent: requests are not limited. */
  rateLimit?: RateLimit;
  log: Logger;
};

export type App = Hono<{ Bindings: HttpBindings }>;

/** Every route of the service; what is answered on each is decided by the operation behind it. */
export function createApp(options: AppOptions): App {
  const { catalogue, operations, doors = [], rateLimit, origin, log } = options;
  const app = new Hono<{ Bindings: HttpBindings }>();
  if (rateLimit) {
    app.use(async (c, next) => {
      await rateLimit(c);
      await next();
    });
  }
  for (const [id, endpoint] of Object.entries(catalogue)) {
    const operation = operations[id];
    if (!operation) throw new Error(`nothing is done for the endpoint ${id}`);
    app.on(endpoint.method, endpoint.path, checked(endpoint, routeOf(endpoint, operation, options)));
  }
  for (const { methods, path, handle } of doors)
    app.on([...methods], path, async (c) => readable(await handle(c.req.raw)));

  const paths = [
    ...Object.values(catalogue).map(({ path, method }) => ({ path, methods: [method] })),
    ...doors.map(({ path, methods }) => ({ path, methods })),
  ];
  app.notFound((c) => {
    const allow = allowedMethods(c.req.path, paths);
    if (allow && c.req.method === "OPTIONS") return preflight(c, allow);
    const problem = allow
      ? new Problem("method_not_allowed", `${c.req.path} takes ${allow}.`)
      : new Problem("not_found", `There is nothing at ${c.req.path}.`);
    const response = problemResponse(c, problem, origin);
    if (allow) response.headers.set("allow", allow);
    return response;
  });
  app.onError((error, c) => {
    if (error instanceof Problem) return problemResponse(c, error, origin);
    log.error({ err: error, method: c.req.method, path: c.req.path }, "a request failed");
    const members = c.req.header("payment-signature") === undefined ? {} : SAME_HEADER;
    return problemResponse(c, new Problem("internal", "The service failed to answer.", { members }), origin);
  });
  return app;
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
