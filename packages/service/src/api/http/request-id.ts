import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The characters of an id from a proxy: none of them has a meaning in a log, a shell or a page. */
const WELL_FORMED = /^[A-Za-z0-9._~-]{8,64}$/;

/**
 * Returns a request's id: a random UUID. Only the operator's proxy may choose it, with X-Request-Id: if a stranger
 * could, the log lines of two requests could not be told apart.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">, trustProxy: boolean): string {
  const given = trustProxy ? headers["x-request-id"] : undefined;
  return typeof given === "string" && WELL_FORMED.test(given) ? given : randomUUID();
}
