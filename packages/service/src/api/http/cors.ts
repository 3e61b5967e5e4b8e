import type { Answer } from "../endpoints/answer.ts";

/** Any page may read our answers and their payment headers, because no answer depends on cookies. */
const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Date, Retry-After, ETag, Allow, X-Request-Id, X-A2A-Extensions, RateLimit, RateLimit-Policy",
};

/**
 * Headers that a page may send: those of payments, caches, MCP and A2A, and those that clients add. @x402/fetch and
 * @x402/axios send Access-Control-Expose-Headers with a payment, and tracing adds its own two.
 */
const REQUEST_HEADERS = [
  "PAYMENT-SIGNATURE, Content-Type, Authorization, Access-Control-Expose-Headers, If-None-Match",
  "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, A2A-Version, X-A2A-Extensions, traceparent, tracestate",
].join(", ");

/** Answers OPTIONS with what a page of another origin may send (Fetch standard, CORS-preflight). */
export function preflight(allow: string): Answer {
  const headers = {
    allow,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": REQUEST_HEADERS,
    "access-control-max-age": "86400",
  };
  return { status: 204, headers, body: null };
}

/** An answer with all of its headers. It can be sent any number of times. */
export type CompleteAnswer = Answer & { isComplete: true };

/** Adds the headers that every answer has: CORS, and the length of a body that is not a stream. */
export function complete(answer: Answer | CompleteAnswer): CompleteAnswer {
  if ("isComplete" in answer) return answer;
  const { status, headers } = answer;
  const body = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  const length = body instanceof Uint8Array && { "content-length": String(body.length) };
  return { status, headers: { ...length, ...headers, ...CORS_HEADERS }, body, isComplete: true };
}
