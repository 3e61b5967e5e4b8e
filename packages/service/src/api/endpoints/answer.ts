import type { Logger } from "pino";
import { Problem, problemFor, SAME_HEADER } from "../../lib/problems.ts";

/** An answer to an HTTP request, before it is sent. */
export type Answer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
};

/** Makes an answer of JSON text that no cache may store. */
export function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { "content-type": "application/json", "cache-control": "no-store", ...headers }, body };
}

/** Makes a problem document (RFC 9457). @param origin of this service, for the links */
export function problemAnswer(problem: Problem, origin: string): Answer {
  const { status, retryAfter } = problem;
  return json(status, JSON.stringify(problem.toJSON(origin)), {
    "content-type": "application/problem+json",
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
    // The rest of an over-long body is not read, so the connection cannot carry another request.
    ...(status === 413 && { connection: "close" }),
  });
}

/**
 * Returns the problem for a thrown error: its own (problems.ts), or `internal` for a failure, whose cause is only logged.
 * @param options.mayBePaid whether the request may have a payment: the client must then not make another one
 */
export function problemOf(
  error: unknown,
  { log, mayBePaid, ...context }: { log: Logger; mayBePaid: boolean; [name: string]: unknown },
): Problem {
  const problem = problemFor(error);
  if (problem) return problem;
  log.error({ err: error, ...context }, "a request failed");
  return new Problem("internal", "The service failed to answer.", { members: mayBePaid ? SAME_HEADER : {} });
}
