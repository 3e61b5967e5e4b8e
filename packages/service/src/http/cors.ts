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

/**
 * Those that a page must ask leave for: of payments, of caches, of MCP, of A2A, and those that clients add by themselves.
 * @x402/fetch and @x402/axios send Access-Control-Expose-Headers with a payment, and tracing its own two.
 */
const REQUEST_HEADERS = [
  "PAYMENT-SIGNATURE, Content-Type, Authorization, Access-Control-Expose-Headers, If-None-Match",
  "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, A2A-Version, X-A2A-Extensions, traceparent, tracestate",
].join(", ");

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
