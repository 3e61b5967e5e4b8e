import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Route } from "../endpoints/transport.ts";
import { Problem } from "../problems.ts";
import { answerVariant, GZIP, prepare, VARY, withCompressed } from "./prepared.ts";

/** One built file of the page for people. */
export type PageFile = {
  /** `/`, or below. */
  path: string;
  /** Media type. */
  type: string;
  body: Uint8Array<ArrayBuffer>;
  /** Whether its path changes with its contents. */
  isImmutable: boolean;
};

/** The page connects only to this origin, runs only its own scripts, and cannot be framed. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // A wallet may open its own window, which sends messages to the page.
  "cross-origin-opener-policy": "same-origin-allow-popups",
};

const A_YEAR = "public, max-age=31536000, immutable";

/** A route for each file of the page. @param files undefined where the page is not built */
export function pageRoutes(files: readonly PageFile[] | undefined): Route[] {
  if (files) return files.map(fileRoute);
  const handle = () => {
    throw new Problem("not_found", "The page is not built (npm run build -w packages/web). The API works.");
  };
  return [{ path: "/", method: "GET", handle }];
}

function fileRoute({ path, type, body, isImmutable }: PageFile): Route {
  // Weak: the same for the file and its compressed form (RFC 9110, 8.8.1).
  const etag = `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const headers = {
    ...SECURITY_HEADERS,
    ...VARY,
    "content-type": type,
    "cache-control": isImmutable ? A_YEAR : "no-cache",
  };
  const variants = withCompressed(prepare(body, etag, headers, {}), () =>
    prepare(new Uint8Array(gzipSync(body)), etag, headers, GZIP),
  );
  return { path, method: "GET", handle: (incoming) => answerVariant(variants, incoming.headers) };
}
