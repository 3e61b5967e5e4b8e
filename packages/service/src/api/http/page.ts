import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { Problem } from "../../lib/problems.ts";
import type { Answer } from "../endpoints/answer.ts";
import type { Handler, Route } from "../endpoints/transport.ts";
import { answerVariant, GZIP, prepare, VARY, withCompressed } from "./prepared.ts";

/** One built file of the page for people. */
export type PageFile = {
  /** `/`, or a path below it. */
  path: string;
  /** Media type. */
  type: string;
  body: Uint8Array<ArrayBuffer>;
  /** Whether its path changes with its contents. */
  isImmutable: boolean;
  /** For a document that needs more than `POLICY` allows: the additions, by directive. */
  allows?: Readonly<Record<string, readonly string[]>> | undefined;
};

/** The page connects only to this origin, runs only its own scripts, and cannot be framed. */
const POLICY: Readonly<Record<string, string>> = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self'",
  "connect-src": "'self'",
  "worker-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // A wallet may open its own window, which sends messages to the page.
  "cross-origin-opener-policy": "same-origin-allow-popups",
};

const A_YEAR = "public, max-age=31536000, immutable";

/** Returns a route for each file of the page. @param files undefined if the page has not been built */
export function pageRoutes(files: readonly PageFile[] | undefined): Route[] {
  if (files) return files.map(fileRoute);
  const handle = () => {
    throw new Problem("not_found", "The page is not built (npm run build -w packages/web). The API works.");
  };
  return [{ path: "/", method: "GET", handle }];
}

/** Returns a document's Content-Security-Policy. */
function policyOf({ allows = {} }: PageFile): string {
  const directives = new Set([...Object.keys(POLICY), ...Object.keys(allows)]);
  return [...directives]
    .map((name) => [name, POLICY[name], ...(allows[name] ?? [])].filter(Boolean).join(" "))
    .join("; ");
}

/** Answers with the page in place of an endpoint's JSON. @param status of the JSON */
export type View = (status: number, incoming: IncomingMessage) => Answer;

/** @returns undefined if the page has not been built */
export function viewOf(files: readonly PageFile[] | undefined): View | undefined {
  const document = files?.find(({ path }) => path === "/");
  if (!document) return undefined;
  const { handle } = fileRoute(document);
  return (status, incoming) => {
    const answer = handle(incoming, { params: {}, query: {} }) as Answer;
    return { ...answer, status: answer.status === 200 ? status : answer.status, headers: withVary(answer.headers) };
  };
}

/**
 * Gives a browser the page where a program gets JSON; the page requests the JSON itself.
 * @param view undefined if the page has not been built
 */
export function forBrowsers(handle: Handler, view: View | undefined): Handler {
  if (view === undefined) return handle;
  return async (incoming, given) => {
    if (!wantsHtml(incoming.headers.accept)) {
      const answer = await handle(incoming, given);
      return { ...answer, headers: withVary(answer.headers) };
    }
    try {
      const { status } = await handle(incoming, given);
      // The page's ETag is not the JSON's.
      return view(status === 304 ? 200 : status, incoming);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return view(404, incoming);
      throw error;
    }
  };
}

function withVary(headers: Answer["headers"]): Answer["headers"] {
  return { ...headers, vary: [headers.vary, "accept"].filter(Boolean).join(", ") };
}

/** Whether Accept names HTML, and no JSON before it (RFC 9110, 12.5.1). Programs name neither, or JSON. */
function wantsHtml(accept = ""): boolean {
  const weight = (type: string) => {
    const ranges = accept.split(",").map((range) => range.split(";").map((part) => part.trim().toLowerCase()));
    const found = ranges.find(([name]) => name === type);
    const q = found?.find((part) => part.startsWith("q="));
    return found ? Number(q?.slice(2) ?? 1) || 0 : 0;
  };
  const html = weight("text/html");
  return html > 0 && html >= weight("application/json");
}

function fileRoute(file: PageFile): Route {
  const { path, type, body, isImmutable } = file;
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  const headers = {
    ...SECURITY_HEADERS,
    "content-security-policy": policyOf(file),
    ...VARY,
    "content-type": type,
    "cache-control": isImmutable ? A_YEAR : "no-cache",
  };
  const variants = withCompressed(prepare(body, `"${hash}"`, headers, {}), () =>
    prepare(new Uint8Array(gzipSync(body)), `"${hash}-gzip"`, headers, GZIP),
  );
  return { path, method: "GET", handle: (incoming) => answerVariant(variants, incoming.headers) };
}
