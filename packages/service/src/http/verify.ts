import type { Endpoint } from "../catalogue/catalogue.ts";
import { requireJson } from "../catalogue/input.ts";
import type { VerifyOperation } from "../endpoints/operations.ts";
import { json } from "./answer.ts";
import { readBody } from "./body.ts";
import type { Route } from "./route.ts";

/** A verify route: the report of a bundle that is verified, a problem that carries the report of one that is not. */
export function verifyRoute({ body }: Endpoint, operation: VerifyOperation): Route {
  return async (incoming, { query }) => {
    const bytes = await readBody(incoming, body?.maxBytes ?? 0);
    requireJson(incoming.headers["content-type"], incoming.headers["content-encoding"]);
    const report = await operation.verify(bytes, { chain: query.chain !== undefined });
    return json(200, JSON.stringify(report));
  };
}
