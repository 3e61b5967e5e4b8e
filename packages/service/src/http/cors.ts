import type { Answer } from "./answer.ts";

/** Any page may read our answers, its payments' headers among them: nothing here rests on cookies or on where one is. */
export const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, ETag, Allow, X-A2A-Extensions",
};

/** Lets pages read a door's answer. Which pages may ask, a door sees in their Origin. */
export function readable(response: Response): Response {
  for (const [name, value] of Object.entries(CORS_HEADERS)) response.headers.set(name, value);
  return response;
}

/** Those that a page must ask leave for: of payments, of caches, of MCP, of A2A. */
const REQUEST_HEADERS =
  "PAYMENT-SIGNATURE, Content-Type, If-None-Match, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, X-A2A-Extensions";

/** Answers OPTIONS: what a page of another origin may send (Fetch standard, CORS-preflight). */
export function preflight(allow: string): Answer {
  const headers = {
    ...CORS_HEADERS,
    allow,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": REQUEST_HEADERS,
    "access-control-max-age": "86400",
  };
  return { status: 204, headers, body: null };
}
