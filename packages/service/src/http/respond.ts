import type { Problem } from "../problems.ts";
import type { HttpContext } from "./body.ts";
import { CORS_HEADERS } from "./cors.ts";

/** Sends JSON text as it is, for the one who asked: no cache keeps it. */
export function json(c: HttpContext, status: number, body: string, headers: Record<string, string> = {}): Response {
  return c.body(body, status as 200, {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...CORS_HEADERS,
    ...headers,
  });
}

/** Words a problem as RFC 9457 asks. */
export function problemResponse(c: HttpContext, problem: Problem, origin: string): Response {
  const headers: Record<string, string> = {
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    ...CORS_HEADERS,
  };
  if (problem.retryAfter !== undefined) headers["retry-after"] = String(problem.retryAfter);
  // The rest of an over-long body is not read; the connection cannot carry another request.
  if (problem.status === 413) headers.connection = "close";
  return c.body(JSON.stringify(problem.toJSON(origin)), problem.status as 400, headers);
}
