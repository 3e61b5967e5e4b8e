import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Endpoint } from "../catalogue/catalogue.ts";
import type { DocumentOperation } from "../endpoints/operations.ts";
import { CORS_HEADERS } from "./cors.ts";

/** One representation of a text that may be kept, ready to be sent. */
export type Prepared = {
  text: string;
  bytes: Buffer<ArrayBuffer>;
  etag: string;
  /** Of 200. */
  headers: Record<string, string>;
  /** Of 304. */
  unchangedHeaders: Record<string, string>;
};

/** Of a text that is sent compressed to those who take that (RFC 9110, 12.5.5). */
const VARY = { vary: "accept-encoding" };

/** @param coding headers of the coding in which `bytes` are the text */
export function prepare(
  { replies, cacheControl = "no-store" }: Endpoint,
  text: string,
  bytes = Buffer.from(text),
  coding: Readonly<Record<string, string>> = {},
): Prepared {
  // Strong (RFC 9110, 8.8.3): of these bytes and no others.
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  const { "content-encoding": _, ...varying } = coding;
  const unchangedHeaders = { etag, "cache-control": cacheControl, ...varying, ...CORS_HEADERS };
  const headers = {
    "content-type": replies[200]?.mediaType ?? "application/json",
    "content-length": String(bytes.length),
    ...coding,
    ...unchangedHeaders,
  };
  return { text, bytes, etag, headers, unchangedHeaders };
}

/** A text as it is and, where that is shorter, compressed. */
export type PreparedDocument = { plain: Prepared; compressed: Prepared };

/** A document as it is now, prepared anew only when its text is another, and compressed when that is first asked for. */
export function preparing(endpoint: Endpoint, operation: DocumentOperation): () => PreparedDocument {
  let last: PreparedDocument | undefined;
  return () => {
    const text = operation.text();
    if (last?.plain.text !== text) last = prepareDocument(endpoint, text);
    return last;
  };
}

function prepareDocument(endpoint: Endpoint, text: string): PreparedDocument {
  const plain = prepare(endpoint, text, undefined, VARY);
  let compressed: Prepared | undefined;
  return {
    plain,
    get compressed() {
      compressed ??= compress(endpoint, plain);
      return compressed;
    },
  };
}

function compress(endpoint: Endpoint, plain: Prepared): Prepared {
  const bytes = gzipSync(plain.bytes);
  if (bytes.length >= plain.bytes.length) return plain;
  return prepare(endpoint, plain.text, bytes, { ...VARY, "content-encoding": "gzip" });
}

/** Whether If-None-Match (RFC 9110, 13.1.2) names this tag. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === etag || tag === "*");
}
