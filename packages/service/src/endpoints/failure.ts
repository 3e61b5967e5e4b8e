import type { Logger } from "pino";
import { SAME_HEADER } from "../calls/problems.ts";
import { Problem } from "../problems.ts";

/**
 * The problem that a thrown error is answered with: a problem as it is; for any other error `internal`, whose cause only
 * the log has.
 *
 * @param options.mayBePaid whether the request may have brought a payment, which is then not to be made again
 */
export function problemOf(
  error: unknown,
  { log, mayBePaid, ...context }: { log: Logger; mayBePaid: boolean; [name: string]: unknown },
): Problem {
  if (error instanceof Problem) return error;
  log.error({ err: error, ...context }, "a request failed");
  return new Problem("internal", "The service failed to answer.", { members: mayBePaid ? SAME_HEADER : {} });
}
