import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { STATUS_CODES } from "../../lib/node-http.ts";
import { Problem, type ProblemCode } from "../../lib/problems.ts";
import { within } from "../../observe/tracing/context.ts";
import { problemAnswer } from "../endpoints/answer.ts";
import { complete } from "./cors.ts";

/** Node's errors for requests that do not reach a listener, and their problems; any other is `request_malformed`. */
const CODES: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "body_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/**
 * Answers requests that Node cannot parse. Node's own answers have no CORS headers: if a payment exceeds the header
 * limit, a page would see a network error.
 * @param origin of this service, for the links
 */
export function answerUnread(server: Server, origin: string): void {
  /** The last response begun on each connection. */
  const begun = new WeakMap<Socket, ServerResponse<IncomingMessage>>();
  server.on("request", (incoming, outgoing) => begun.set(incoming.socket, outgoing));
  server.on("clientError", (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    const outgoing = begun.get(socket);
    // An earlier request on this connection waits for its answer, which this one must not replace or interrupt.
    const isPending =
      outgoing !== undefined && !outgoing.writableFinished && (outgoing.req.complete || outgoing.headersSent);
    if (!socket.writable || isPending) return void socket.destroy();
    socket.end(responseText(CODES[error.code ?? ""] ?? "request_malformed", origin), () => socket.destroy());
  });
}

/** Returns an HTTP/1.1 answer after which the connection is closed. */
function responseText(code: ProblemCode, origin: string): string {
  const problem = new Problem(code, "The request could not be read.");
  const requestId = randomUUID();
  const { status, headers, body } = within({ requestId, call: { stages: {} } }, () =>
    complete(problemAnswer(problem, origin)),
  );
  const lines = Object.entries({ ...headers, "x-request-id": requestId, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`;
}
