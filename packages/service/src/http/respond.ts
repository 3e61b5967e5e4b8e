import type { Outcome } from "../calls/admit.ts";
import { encodeHeader } from "../payment/header.ts";
import type { Problem } from "../problems.ts";
import type { HttpContext } from "./body.ts";

/** Sends JSON text as it is. */
export function json(c: HttpContext, status: number, body: string, headers: Record<string, string> = {}): Response {
  return c.body(body, status as 200, { "content-type": "application/json", ...headers });
}

/** Words a problem as RFC 9457 asks. */
export function problemResponse(c: HttpContext, problem: Problem, origin: string): Response {
  const headers: Record<string, string> = { "content-type": "application/problem+json" };
  if (problem.retryAfter !== undefined) headers["retry-after"] = String(problem.retryAfter);
  // The rest of an over-long body is not read; the connection cannot carry another request.
  if (problem.status === 413) headers.connection = "close";
  return c.body(JSON.stringify(problem.toJSON(origin)), problem.status as 400, headers);
}

/** What a paid route is for, in a PaymentRequired. */
export type PaidResource = { path: string; description: string };

/** Words the outcome of a paid request over HTTP (x402 v2, HTTP transport). */
export function outcomeResponse(c: HttpContext, outcome: Outcome, resource: PaidResource, origin: string): Response {
  if (outcome.kind === "delivered")
    return json(c, 200, outcome.body, { "payment-response": outcome.receipt, "cache-control": "no-store" });
  const { accepts, options, extensions, error, receipt } = outcome;
  const required = {
    x402Version: 2,
    ...(error !== undefined && { error }),
    resource: { url: `${origin}${resource.path}`, description: resource.description, mimeType: "application/json" },
    accepts,
    extensions,
  };
  return json(c, 402, JSON.stringify({ ...required, options }), {
    "payment-required": encodeHeader(required),
    ...(receipt !== undefined && { "payment-response": receipt }),
    "cache-control": "no-store",
  });
}
