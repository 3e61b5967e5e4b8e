import type { IncomingHttpHeaders } from "node:http";
import type { FoundBundle } from "../../calls/bundles.ts";
import type { Endpoint } from "../../catalogue/catalogue.ts";
import { requireJson } from "../../catalogue/input.ts";
import { verifiedReport } from "../../verification/verifier.ts";
import { type Answer, json } from "../endpoints/answer.ts";
import { readBody } from "../endpoints/body.ts";
import type { FreeOperation } from "../endpoints/operations.ts";
import { streamOf } from "../endpoints/text.ts";
import type { Handler } from "../endpoints/transport.ts";
import { answerPrepared, answerVariant, createVariants, isKnown, prepareText } from "./prepared.ts";

export function freeHandler(endpoint: Endpoint, operation: FreeOperation): Handler {
  switch (operation.kind) {
    case "verify":
      return async (incoming, { query }) => {
        const bytes = await readBody(incoming, endpoint.body?.maxBytes ?? 0);
        requireJson(incoming.headers);
        const verdict = await operation.verify(bytes, { chain: query.chain !== undefined });
        return json(200, JSON.stringify(verifiedReport(verdict)));
      };
    case "read":
      return async ({ headers, method }, { params, query }) => {
        const found = await operation.read(params, query);
        if ("open" in found) return answerBundle(endpoint, found, headers, method === "HEAD");
        const { status, text, retryAfter, mayChange } = found;
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

/**
 * Answers with a bundle by its id, which permanently identifies its bytes. The bundle is read only for a GET that needs
 * its body.
 */
async function answerBundle(
  { cacheControl = "no-store" }: Endpoint,
  { id, bytes, open }: FoundBundle,
  { "if-none-match": ifNoneMatch }: IncomingHttpHeaders,
  isHead: boolean,
): Promise<Answer> {
  const kept = { "cache-control": cacheControl, etag: `"${id}"` };
  if (isKnown(ifNoneMatch, kept.etag)) return { status: 304, headers: kept, body: null };
  const headers = { "content-type": "application/json", ...kept, "content-length": String(bytes) };
  if (isHead) return { status: 200, headers, body: null };
  const text = await open();
  return { status: 200, headers, body: typeof text === "string" ? text : await streamOf(text.pieces()) };
}
