import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { excerpt } from "@attestd/proof/text";
import type { Logger } from "pino";
import { type Answer, problemAnswer } from "../endpoints/answer.ts";
import { problemOf } from "../endpoints/failure.ts";
import type { Route } from "../endpoints/route.ts";
import { Problem } from "../problems.ts";
import { CORS_HEADERS, preflight } from "./cors.ts";
import type { RateLimit } from "./rate-limit.ts";
import { createRouter } from "./router.ts";

/** Sees every answer before it is sent. */
export type Observe = (incoming: IncomingMessage, answer: Answer) => void;

export type ListenerOptions = {
  routes: readonly Route[];
  /** Absent: requests are not limited. */
  rateLimit?: RateLimit | undefined;
  /** Of every absolute link. */
  origin: string;
  log: Logger;
  /** For tests. */
  observe?: Observe | undefined;
};

/** Bytes of a body that no handler has read for which a connection is kept: Node reads and drops them. */
const MAX_DROPPED = 64 * 1024;

/** The way of every request: the rate limit, the route, the answer. What a handler throws is answered as a problem. */
export function createListener({ routes, rateLimit, origin, log, observe }: ListenerOptions): RequestListener {
  const find = createRouter(routes);

  function handle(incoming: IncomingMessage): Answer | Promise<Answer> {
    const { method = "", url = "" } = incoming;
    const found = find(url);
    const [path = ""] = url.split("?", 1);
    if (!found) throw new Problem("not_found", `There is nothing at ${excerpt(path)}.`);
    const route = found.routes.find((one) => one.method === (method === "HEAD" ? "GET" : method));
    if (route) return route.handle(incoming, found);

    const allow = found.routes.map((one) => (one.method === "GET" ? "GET, HEAD" : one.method)).join(", ");
    if (method === "OPTIONS") return preflight(allow);
    const { headers, ...answer } = problemAnswer(
      new Problem("method_not_allowed", `${excerpt(path)} takes ${allow}.`),
      origin,
    );
    return { ...answer, headers: { ...headers, allow } };
  }

  async function answerTo(incoming: IncomingMessage): Promise<Answer> {
    try {
      await rateLimit?.(incoming);
      return await handle(incoming);
    } catch (error) {
      const { method, url = "", headers } = incoming;
      const [path = ""] = url.split("?", 1);
      const mayBePaid = headers["payment-signature"] !== undefined;
      return problemAnswer(problemOf(error, { log, mayBePaid, method, path: excerpt(path) }), origin);
    }
  }

  return async (incoming, outgoing) => {
    const answer = withCommonHeaders(await answerTo(incoming));
    try {
      observe?.(incoming, answer);
      // Node sends Connection: close, and closes it after the answer.
      if (hasUnreadBody(incoming)) outgoing.shouldKeepAlive = false;
      send(outgoing, answer);
    } catch {
      outgoing.destroy();
    }
  };
}

/** Adds the headers of every answer. */
export function withCommonHeaders({ status, headers, body }: Answer): Answer {
  const length = body === null || body instanceof ReadableStream ? undefined : Buffer.byteLength(body);
  const framing = length === undefined ? {} : { "content-length": String(length) };
  return { status, headers: { ...framing, ...headers, ...CORS_HEADERS }, body };
}

/** Whether more of a body may still come than is worth reading. */
function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && ("transfer-encoding" in headers || Number(headers["content-length"] ?? 0) > MAX_DROPPED);
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, headers);
  if (!(body instanceof ReadableStream)) return void outgoing.end(body);
  outgoing.flushHeaders();
  pipeline(Readable.fromWeb(body), outgoing, () => undefined);
}
