import type { Endpoint } from "../catalogue/catalogue.ts";
import { requireJson } from "../catalogue/input.ts";
import { json } from "../endpoints/answer.ts";
import { readBody } from "../endpoints/body.ts";
import type { VerifyOperation } from "../endpoints/operations.ts";
import type { Handler } from "../endpoints/route.ts";

/** Answers with the report of a bundle that is verified, and with a problem that has the report of one that is not. */
export function verifyHandler({ body }: Endpoint, operation: VerifyOperation): Handler {
  return async (incoming, { query }) => {
    const bytes = await readBody(incoming, body?.maxBytes ?? 0);
    requireJson(incoming.headers["content-type"], incoming.headers["content-encoding"]);
    const report = await operation.verify(bytes, { chain: query.chain !== undefined });
    return json(200, JSON.stringify(report));
  };
}
