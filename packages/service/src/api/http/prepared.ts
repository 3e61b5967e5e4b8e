import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";
import type { Endpoint } from "../../catalogue/catalogue.ts";
import type { Answer } from "../endpoints/answer.ts";
import { takesGzip } from "../endpoints/gzip.ts";
import { type DocumentOperation, remade } from "../endpoints/operations.ts";
import { type CompleteAnswer, complete } from "./cors.ts";

type Headers = Readonly<Record<string, string>>;

/** A cacheable representation that is ready to be sent. */
export type Prepared = {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
  /** The 200 answer. */
  found: CompleteAnswer;
  /** The 304 answer. */
  unchanged: CompleteAnswer;
};

/** A representation, and its compressed form. */
export type Variants = { plain: Prepared; compressed: Prepared };

/** The header of a representation that has variants (RFC 9110, 12.5.5). */
export const VARY = { vary: "accept-encoding" };
export const GZIP = { "content-encoding": "gzip" };

/**
 * Prepares a representation.
 * @param headers of 200 and of 304
 * @param content headers only of 200, besides Content-Length
 */
export function prepare(bytes: Uint8Array<ArrayBuffer>, etag: string, headers: Headers, content: Headers): Prepared {
  return {
    bytes,
    etag,
    found: complete({ status: 200, headers: { ...content, ...headers, etag }, body: bytes }),
    unchanged: complete({ status: 304, headers: { ...headers, etag }, body: null }),
  };
}

/** Prepares an endpoint's text. @param varying,coding headers of a text that has variants */
export function prepareText(
  { replies, cacheControl = "no-store" }: Endpoint,
  bytes: Buffer<ArrayBuffer>,
  varying: Headers = {},
  coding: Headers = {},
): Prepared {
  // Strong (RFC 9110, 8.8.3): it identifies exactly these bytes.
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  const content = { "content-type": replies[200]?.mediaType ?? "application/json", ...coding };
  return prepare(bytes, etag, { "cache-control": cacheControl, ...varying }, content);
}

/** @param compress called once, when the compressed variant is first needed */
export function withCompressed(plain: Prepared, compress: () => Prepared): Variants {
  let compressed: Prepared | undefined;
  return {
    plain,
    get compressed() {
      compressed ??= compress();
      return compressed;
    },
  };
}

/** Returns a function that gives the document's current text; each text is prepared once. */
export function createVariants(endpoint: Endpoint, operation: DocumentOperation): () => Variants {
  return remade(operation.text, (text) => {
    const plain = prepareText(endpoint, Buffer.from(text), VARY);
    return withCompressed(plain, () => {
      const bytes = gzipSync(plain.bytes);
      return bytes.length < plain.bytes.length ? prepareText(endpoint, bytes, VARY, GZIP) : plain;
    });
  });
}

/** Answers a GET with the variant that the client accepts, or with 304. */
export function answerVariant(variants: Variants, headers: IncomingHttpHeaders): Answer {
  const prepared = takesGzip(headers["accept-encoding"]?.toString()) ? variants.compressed : variants.plain;
  return answerPrepared(prepared, headers);
}

/** Answers a GET with a representation, or with 304 if the client has it. */
export function answerPrepared(
  { etag, found, unchanged }: Prepared,
  { "if-none-match": ifNoneMatch }: IncomingHttpHeaders,
): Answer {
  return isKnown(ifNoneMatch, etag) ? unchanged : found;
}

const opaque = (tag: string) => tag.replace(/^W\//, "");

/** Whether If-None-Match lists a tag, by weak comparison (RFC 9110, 13.1.2). */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim());
  return tags.some((tag) => tag === "*" || opaque(tag) === opaque(etag));
}
