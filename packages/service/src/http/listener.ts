import type { IncomingMessage, RequestListener } from "node:http";
import { pipeline, Readable } from "node:stream";
import { excerpt } from "@attestd/proof/text";
import { type Answer, problemAnswer, problemOf } from "../endpoints/answer.ts";
import type { Route, TransportOptions } from "../endpoints/transport.ts";
import { Problem } from "../problems.ts";
import { within } from "../tracing/context.ts";
import { parseTraceparent } from "../tracing/traceparent.ts";
import type { AccessLog, Exchange } from "./access-log.ts";
import { complete, preflight } from "./cors.ts";
import type { RateLimit } from "./rate-limit.ts";
import { requestIdOf } from "./request-id.ts";
import { createRouter } from "./router.ts";

/** Called with every answer before it is sent. @param route the path of its route, where there is one */
export type Observe = (incoming: IncomingMessage, answer: Answer, route?: string) => void;

export type ListenerOptions = Pick<TransportOptions, "origin" | "log"> & {
  routes: readonly Route[];
  /** Whether a proxy of the operator names requests in X-Request-Id. */
  trustProxy?: boolean;
  /** Requests are not limited where absent. */
  rateLimit?: RateLimit | undefined;
  /** Requests are not logged where absent. */
  accessLog?: AccessLog | undefined;
  /** Called with every answer that is sent. */
  observe?: Observe | undefined;
};

/** Unread bytes of a body up to which the connection is kept: Node reads and drops them. */
const MAX_DROPPED = 64 * 1024;

/**
 * Applies the rate limit to every request, calls its handler and sends the answer. An error is answered as a problem; a
 * client that has hung up gets no answer.
 */
export function createListener({ routes, origin, log, ...options }: ListenerOptions): RequestListener {
  const { trustProxy = false, rateLimit, accessLog, observe } = options;
  const find = createRouter(routes);

  function handle(exchange: Exchange): Answer | Promise<Answer> {
    const { incoming } = exchange;
    const { method = "", url = "" } = incoming;
    const found = find(url);
    if (found) exchange.route = found.path;
    // A preflight costs less than its refusal.
    const limited = method === "OPTIONS" ? undefined : rateLimit?.(incoming, found?.path);
    exchange.limits = limited?.headers;
    if (limited?.refusal) throw limited.refusal;
    if (!found) throw new Problem("not_found", `There is nothing at ${pathOf(url)}.`);
    const { handlers, allow } = found;
    const handler = handlers.get(method);
    if (handler) return handler(incoming, found);
    if (method === "OPTIONS") return preflight(allow);
    const problem = new Problem("method_not_allowed", `${pathOf(url)} takes ${allow}.`);
    const { headers, ...answer } = problemAnswer(problem, origin);
    return { ...answer, headers: { ...headers, allow } };
  }

  function send(exchange: Exchange, answered: Answer): void {
    const { incoming, outgoing, context, route, limits } = exchange;
    try {
      const { headers, ...rest } = complete(answered);
      const answer = { ...rest, headers: { ...headers, ...limits, "x-request-id": context.requestId } };
      observe?.(incoming, answer, route);
      // Node then sends Connection: close, and closes the connection after the answer.
      if (hasUnreadBody(incoming)) outgoing.shouldKeepAlive = false;
      outgoing.writeHead(answer.status, answer.headers);
      write(exchange, answer.body);
    } catch {
      outgoing.destroy();
    }
  }

  function fail(exchange: Exchange, error: unknown): void {
    const { incoming, outgoing } = exchange;
    if (error === incoming.errored) return void outgoing.destroy();
    const { method, url = "", headers } = incoming;
    const mayBePaid = headers["payment-signature"] !== undefined;
    const problem = problemOf(error, { log, mayBePaid, method, path: pathOf(url) });
    send(exchange, problemAnswer(problem, origin));
  }

  function answer(exchange: Exchange): void {
    try {
      const answered = handle(exchange);
      // An answer that is ready is sent in the same turn of the event loop.
      if (!(answered instanceof Promise)) return void send(exchange, answered);
      answered.then(
        (answer) => send(exchange, answer),
        (error: unknown) => fail(exchange, error),
      );
    } catch (error) {
      fail(exchange, error);
    }
  }

  return (incoming, outgoing) => {
    const context: Exchange["context"] = {
      requestId: requestIdOf(incoming, trustProxy),
      call: { stages: {} },
      parent: parseTraceparent(incoming.headers.traceparent),
    };
    const exchange: Exchange = { incoming, outgoing, context, bytes: 0 };
    accessLog?.(exchange);
    within(context, () => answer(exchange));
  };
}

/** The path of a request target, for messages. */
function pathOf(target: string): string {
  return excerpt(target.split("?", 1)[0] ?? "");
}

/** Whether the unread rest of a body may exceed `MAX_DROPPED`. */
function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && ("transfer-encoding" in headers || Number(headers["content-length"] ?? 0) > MAX_DROPPED);
}

function write(exchange: Exchange, body: Answer["body"]): void {
  const { incoming, outgoing } = exchange;
  if (!(body instanceof ReadableStream)) {
    if (incoming.method !== "HEAD") exchange.bytes = body === null ? 0 : Buffer.byteLength(body);
    return void outgoing.end(body);
  }
  outgoing.flushHeaders();
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      exchange.bytes += chunk.length;
      yield chunk;
    }
  };
  pipeline(Readable.fromWeb(body), counted, outgoing, () => undefined);
}
