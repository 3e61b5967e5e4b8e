import type { BundleType } from "@attestd/proof/bundle";
import type { Endpoint } from "../catalogue.ts";
import { Problem } from "../problems.ts";
import type { Verifier } from "../verification.ts";
import { type HttpContext, readBody, requireJson } from "./body.ts";
import { json } from "./respond.ts";

export type VerifyRoute = {
  endpoint: Endpoint & { body: { maxBytes: number } };
  /** The one type of bundle that the route takes. */
  type: BundleType;
  verifier: Verifier;
};

/** A verify route: the report of a bundle that is verified, a problem that carries the report of one that is not. */
export function verifyRoute({ endpoint, type, verifier }: VerifyRoute) {
  return async (c: HttpContext): Promise<Response> => {
    const online = chainParameter(c.req.query("chain"));
    const bytes = await readBody(c, endpoint.body.maxBytes);
    requireJson(c);
    const report = online ? await verifier.online(bytes, type) : verifier.offline(bytes, type);
    return json(c, 200, JSON.stringify(report));
  };
}

function chainParameter(value: string | undefined): boolean {
  if (value === undefined) return false;
  if (value === "1" || value === "true") return true;
  throw new Problem("query_invalid", "chain is 1 or true, or absent.");
}
