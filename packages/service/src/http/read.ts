import { gzipSync } from "node:zlib";
import type { Endpoint } from "../catalogue/catalogue.ts";
import { json } from "../endpoints/answer.ts";
import type { DocumentOperation, ReadOperation } from "../endpoints/operations.ts";
import type { Handler } from "../endpoints/route.ts";
import {
  answerPrepared,
  answerVariant,
  GZIP,
  type Prepared,
  prepareText,
  VARY,
  type Variants,
  withCompressed,
} from "./prepared.ts";

/** Answers with what the operation looks up each time. */
export function readHandler(endpoint: Endpoint, operation: ReadOperation): Handler {
  return async ({ headers }, { params }) => {
    const { status, text } = await operation.read(params);
    if (status !== 200 || endpoint.cacheControl === undefined) return json(status, text);
    return answerPrepared(prepareText(endpoint, Buffer.from(text)), headers);
  };
}

/** Answers with a document, which is prepared once for each of its texts. */
export function documentHandler(endpoint: Endpoint, operation: DocumentOperation): Handler {
  const variants = createVariants(endpoint, operation);
  return ({ headers }) => answerVariant(variants(), headers);
}

/** A document as it is now. */
export function createVariants(
  endpoint: Endpoint,
  operation: DocumentOperation,
): () => Variants<Prepared & { text: string }> {
  let last: Variants<Prepared & { text: string }> | undefined;
  return () => {
    const text = operation.text();
    if (last?.plain.text !== text) last = prepareVariants(endpoint, text);
    return last;
  };
}

function prepareVariants(endpoint: Endpoint, text: string): Variants<Prepared & { text: string }> {
  const plain = { text, ...prepareText(endpoint, Buffer.from(text), VARY) };
  return withCompressed(plain, () => {
    const bytes = gzipSync(plain.bytes);
    return bytes.length < plain.bytes.length ? prepareText(endpoint, bytes, VARY, GZIP) : plain;
  });
}
