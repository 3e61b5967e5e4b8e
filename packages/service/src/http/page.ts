import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { takesGzip } from "../endpoints/gzip.ts";
import type { Door } from "../endpoints/transport.ts";
import { Problem } from "../problems.ts";

/** One file of the page for people, which the service serves and does not make. */
export type PageFile = {
  /** `/`, or below. */
  path: string;
  /** Media type. */
  type: string;
  body: Uint8Array<ArrayBuffer>;
  /** Its path changes with its contents. */
  isImmutable: boolean;
};

/** The page asks nobody but this origin, runs no script but its own, and stands in no one's frame. */
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
  // A wallet may open a window of its own, and keep in touch with the page.
  "cross-origin-opener-policy": "same-origin-allow-popups",
};

const A_YEAR = "public, max-age=31536000, immutable";

/**
 * The page, a door for each of its files.
 * @param files undefined where there is no page to serve: its address then says so
 */
export function pageDoors(files: readonly PageFile[] | undefined): Door[] {
  return files === undefined ? [{ path: "/", methods: ["GET"], handle: noPage }] : files.map(fileDoor);
}

function noPage(): Response {
  throw new Problem("not_found", "The page is not built here (npm run build -w packages/web). The interface works.");
}

function fileDoor({ path, type, body, isImmutable }: PageFile): Door {
  // Weak: the same for the file as it is and compressed (RFC 9110, 8.8.1).
  const etag = `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const compressed = new Uint8Array(gzipSync(body));
  const headers = {
    ...SECURITY_HEADERS,
    "content-type": type,
    "cache-control": isImmutable ? A_YEAR : "no-cache",
    vary: "accept-encoding",
    etag,
  };
  return {
    path,
    methods: ["GET"],
    handle(request) {
      if (matches(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
      if (!takesGzip(request.headers.get("accept-encoding"))) return new Response(body, { headers });
      return new Response(compressed, { headers: { ...headers, "content-encoding": "gzip" } });
    },
  };
}

/** If-None-Match by weak comparison (RFC 9110, 13.1.2). */
function matches(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return header.trim() === "*" || header.split(",").some((tag) => opaque(tag) === opaque(etag));
}
