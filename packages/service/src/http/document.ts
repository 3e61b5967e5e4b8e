import { createHash } from "node:crypto";
import type { Endpoint } from "../catalogue.ts";
import type { DocumentOperation } from "../operations.ts";
import { CORS_HEADERS } from "./cors.ts";

/** A text that may be kept, ready to be sent. */
export type Prepared = {
  text: string;
  bytes: Buffer<ArrayBuffer>;
  etag: string;
  /** Of 200. */
  headers: Record<string, string>;
  /** Of 304. */
  unchangedHeaders: Record<string, string>;
};

export function prepare({ replies, cacheControl = "no-store" }: Endpoint, text: string): Prepared {
  const bytes = Buffer.from(text);
  // Strong (RFC 9110, 8.8.3): of these bytes and no others.
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  const unchangedHeaders = { etag, "cache-control": cacheControl, ...CORS_HEADERS };
  const headers = {
    "content-type": replies[200]?.mediaType ?? "application/json",
    "content-length": String(bytes.length),
    ...unchangedHeaders,
  };
  return { text, bytes, etag, headers, unchangedHeaders };
}

/** A document as it is now, prepared anew only when its text is another. */
export function preparing(endpoint: Endpoint, operation: DocumentOperation): () => Prepared {
  let last: Prepared | undefined;
  return () => {
    const text = operation.text();
    if (last?.text !== text) last = prepare(endpoint, text);
    return last;
  };
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
