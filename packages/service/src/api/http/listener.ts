import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline, Readable } from "node:stream";
import { excerpt } from "@attestd/proof/text";
import { createUnderWay, RETRY_AFTER, type UnderWay } from "../../calls/under-way.ts";
import { Problem, SAME_HEADER } from "../../lib/problems.ts";
import { within } from "../../observe/tracing/context.ts";
import { parseTraceparent } from "../../observe/tracing/traceparent.ts";
import { type Answer, problemAnswer, problemOf } from "../endpoints/answer.ts";
import type { Route, TransportOptions } from "../endpoints/transport.ts";
import type { AccessLog, Exchange } from "./access-log.ts";
import { clientOf } from "./client-name.ts";
import { type CompleteAnswer, complete, preflight } from "./cors.ts";
import type { RateLimit } from "./rate-limit.ts";
import { requestIdOf } from "./request-id.ts";
import { createRouter } from "./router.ts";

/** Learns how many bytes of an answer the connection has taken. */
type Progress = { took(bytes: number): void };

/** Called with every answer before it is sent. @param route the path of its route, if there is one */
export type Observe = (incoming: IncomingMessage, answer: Answer, route?: string) => void;

export type ListenerOptions = Pick<TransportOptions, "origin" | "log"> & {
  routes: readonly Route[];
  /** Limits what is in memory for clients; by default a limit of its own. */
  underWay?: UnderWay;
  /** Whether the operator's proxy names requests in X-Request-Id. */
  trustProxy?: boolean;
  /** By default requests are not limited. */
  rateLimit?: RateLimit | undefined;
  /** By default requests are not logged. */
  accessLog?: AccessLog | undefined;
  /** Called with every answer that is sent. */
  observe?: Observe | undefined;
};

/** The limit of requests that a connection may send before the answer to an earlier one. */
const MAX_PIPELINED = 256;
/** The number of unread body bytes up to which the connection is kept: Node reads and drops them. */
const MAX_DROPPED = 64 * 1024;

/**
 * Makes the listener. It applies the rate limit to every request, calls the request's handler and sends the answer. An
 * error is answered as a problem; a client that has disconnected gets no answer.
 */
export function createListener({ routes, origin, log, ...options }: ListenerOptions): RequestListener {
  const { trustProxy = false, underWay = createUnderWay(), rateLimit, accessLog, observe } = options;
  const find = createRouter(routes);

  function handle(exchange: Exchange): Answer | Promise<Answer> {
    const { incoming } = exchange;
    const { method = "", url = "" } = incoming;
    const found = find(url);
    if (found) exchange.route = found.path;
    // A preflight is cheaper to answer than to refuse.
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
      let full = complete(answered);
      let waiting = admit(exchange, full);
      if (waiting instanceof Problem) {
        full = complete(problemAnswer(waiting, origin));
        waiting = undefined;
        dropUnread(answered);
      }
      const { headers, ...rest } = full;
      const answer = { ...rest, headers: { ...headers, ...limits, "x-request-id": context.requestId } };
      observe?.(incoming, answer, route);
      // Node then sends Connection: close, and closes the connection after the answer.
      if (hasUnreadBody(incoming)) outgoing.shouldKeepAlive = false;
      outgoing.writeHead(answer.status, answer.headers);
      write(exchange, answer.body, waiting);
    } catch {
      outgoing.destroy();
      dropUnread(answered);
    }
  }

  /**
   * Counts an answer that its client may leave unread, if it is longer than a piece. Counting a shorter one would cost
   * more than it holds.
   */
  function admit({ incoming, context }: Exchange, full: CompleteAnswer): Progress | Problem | undefined {
    const { held, ended, close } = context.answer;
    if (held) return held;
    const bytes = heldBy(full);
    if (incoming.method === "HEAD" || bytes <= PIECE_BYTES) return undefined;
    const own = underWay.tryEnter({ client: clientOf(incoming, trustProxy), bytes, close });
    if (!own) return tooMuch(incoming);
    ended(() => own[Symbol.dispose]());
    return own;
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

  return inTurn((incoming, outgoing) => {
    const context: Exchange["context"] = {
      requestId: requestIdOf(incoming, trustProxy),
      call: { stages: {} },
      parent: parseTraceparent(incoming.headers.traceparent),
      client: () => clientOf(incoming, trustProxy),
      answer: {
        ended: (run) => (outgoing.closed ? run() : void outgoing.once("close", run)),
        close: () => void incoming.socket.destroy(),
      },
    };
    const exchange: Exchange = { incoming, outgoing, context, bytes: 0 };
    accessLog?.(exchange);
    within(context, () => answer(exchange));
  });
}

/**
 * Starts each request of a connection when the previous answer has been sent, so that a connection has one answer in
 * progress. A few requests may wait unread; beyond those nothing more is read from the connection.
 */
function inTurn(begin: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    // Node attaches the answer to its connection when its turn comes.
    if (outgoing.socket !== null) return begin(incoming, outgoing);
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_PIPELINED) return void socket.destroy();
    waiting.set(socket, count);
    outgoing.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      begin(incoming, outgoing);
    });
  };
}

/** Cancels the stream of an unsent answer, which frees what it holds. */
function dropUnread({ body }: Answer): void {
  if (body instanceof ReadableStream && !body.locked) void body.cancel();
}

/**
 * Returns the problem of too many answers in memory. A payment in the request is safe in any case: its answer can be
 * had with the same header.
 */
function tooMuch({ headers }: IncomingMessage): Problem {
  const members = headers["payment-signature"] === undefined ? {} : SAME_HEADER;
  const detail = "Too many answers wait to be read, by this client or by all clients.";
  return new Problem("too_many_requests", detail, { retryAfter: RETRY_AFTER, members });
}

/** Returns the path of a request target, for messages. */
function pathOf(target: string): string {
  return excerpt(target.split("?", 1)[0] ?? "");
}

/** Whether the unread rest of a body may exceed `MAX_DROPPED`. */
function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && ("transfer-encoding" in headers || Number(headers["content-length"] ?? 0) > MAX_DROPPED);
}

/**
 * The size of the pieces that are passed to the connection, in bytes. How many it has taken shows whether the client
 * reads.
 */
const PIECE_BYTES = 64 * 1024;

/** Returns how many bytes an answer holds until it is sent. */
function heldBy({ body }: CompleteAnswer): number {
  if (body instanceof Uint8Array) return body.length;
  return body === null ? 0 : PIECE_BYTES;
}

function write(exchange: Exchange, body: Answer["body"], waiting: Progress | undefined): void {
  const { incoming, outgoing } = exchange;
  const took = (piece: Uint8Array) => {
    exchange.bytes += piece.length;
    waiting?.took(piece.length);
  };
  if (incoming.method === "HEAD" || body === null) return void outgoing.end();
  if (body instanceof ReadableStream) return void writeStream(outgoing, body, took);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length > PIECE_BYTES) return void writePieces(outgoing, bytes, took);
  exchange.bytes = bytes.length;
  outgoing.end(bytes);
}

type Took = (piece: Uint8Array) => void;

function writeStream(outgoing: ServerResponse, stream: ReadableStream<Uint8Array>, took: Took): void {
  outgoing.flushHeaders();
  const counted = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      took(piece);
      yield piece;
    }
  };
  pipeline(Readable.fromWeb(stream), counted, outgoing, () => undefined);
}

/** Passes bytes to the connection, each piece when it has taken the previous one. */
function writePieces(outgoing: ServerResponse, bytes: Uint8Array, took: Took): void {
  let at = 0;
  const next = () => {
    while (at < bytes.length) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      at += piece.length;
      took(piece);
      if (!outgoing.write(piece)) return void outgoing.once("drain", next);
    }
    outgoing.end();
  };
  next();
}
