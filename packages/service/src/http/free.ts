import type { Endpoint } from "../catalogue/catalogue.ts";
import { requireJson } from "../catalogue/input.ts";
import { json } from "../endpoints/answer.ts";
import { readBody } from "../endpoints/body.ts";
import type { FreeOperation } from "../endpoints/operations.ts";
import type { Handler } from "../endpoints/transport.ts";
import { answerPrepared, answerVariant, createVariants, prepareText } from "./prepared.ts";

export function freeHandler(endpoint: Endpoint, operation: FreeOperation): Handler {
  switch (operation.kind) {
    case "verify":
      return async (incoming, { query }) => {
        const bytes = await readBody(incoming, endpoint.body?.maxBytes ?? 0);
        requireJson(incoming.headers);
        const report = await operation.verify(bytes, { chain: query.chain !== undefined });
        return json(200, JSON.stringify(report));
      };
    case "read":
      return async ({ headers }, { params, query }) => {
        const { status, text, retryAfter, mayChange } = await operation.read(params, query);
        if (status !== 200 || endpoint.cacheControl === undefined)
          return json(status, text as string, retryAfter === undefined ? {} : { "retry-after": String(retryAfter) });
        const kept = mayChange ? { ...endpoint, cacheControl: "no-cache" } : endpoint;
        return answerPrepared(prepareText(kept, Buffer.from(text)), headers);
      };
    case "document": {
      const variants = createVariants(endpoint, operation);
      return ({ headers }) => answerVariant(variants(), headers);
    }
  }
}
