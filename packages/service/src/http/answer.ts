import type { Problem } from "../problems.ts";
import { CORS_HEADERS } from "./cors.ts";

/** What a request is answered with, before it is known by which way it is sent. */
export type Answer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer<ArrayBuffer> | null;
};

/** JSON text as it is, for the one who asked: no cache keeps it. */
export function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const all = { "content-type": "application/json", "cache-control": "no-store", ...CORS_HEADERS, ...headers };
  return { status, headers: all, body };
}

/** Words a problem as RFC 9457 asks. */
export function problemAnswer(problem: Problem, origin: string): Answer {
  const { status, retryAfter } = problem;
  const headers = {
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    ...CORS_HEADERS,
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
    // The rest of an over-long body is not read; the connection cannot carry another request.
    ...(status === 413 && { connection: "close" }),
  };
  return { status, headers, body: JSON.stringify(problem.toJSON(origin)) };
}
