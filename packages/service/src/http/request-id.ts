import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** What an id from a proxy may have: no character that means anything to a log, a shell or a page. */
const WELL_FORMED = /^[A-Za-z0-9._~-]{8,64}$/;

/**
 * The id of a request: a random UUID. Only a proxy of the operator may choose it, by X-Request-Id: with an id of a stranger's
 * choice, the lines of two requests could not be told apart.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">, trustProxy: boolean): string {
  const given = trustProxy ? headers["x-request-id"] : undefined;
  return typeof given === "string" && WELL_FORMED.test(given) ? given : randomUUID();
}
