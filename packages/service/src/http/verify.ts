import type { Endpoint } from "../catalogue.ts";
import type { VerifyOperation } from "../operations.ts";
import { readBody, requireJson } from "./body.ts";
import { json } from "./respond.ts";
import type { Route } from "./route.ts";

/** A verify route: the report of a bundle that is verified, a problem that carries the report of one that is not. */
export function verifyRoute({ body }: Endpoint, operation: VerifyOperation): Route {
  return async (c, { query }) => {
    const bytes = await readBody(c, body?.maxBytes ?? 0);
    requireJson(c);
    const report = await operation.verify(bytes, { chain: query.chain !== undefined });
    return json(c, 200, JSON.stringify(report));
  };
}
