import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { AnswerContext, Context } from "../../observe/tracing/context.ts";
import { clientOf } from "./client-name.ts";

/** A request and the response to it. */
export type Exchange = {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** With the request's id and, once it is read, its payment's key. */
  context: Context & { requestId: string; answer: AnswerContext };
  /** The path of its route, in which `:name` is a parameter; undefined if there is no route. */
  route?: string;
  /** Headers about the rate limit. */
  limits?: Readonly<Record<string, string>> | undefined;
  /** Bytes of the answer's body that were passed to the connection. */
  bytes: number;
};

export type AccessLog = (exchange: Exchange) => void;

/**
 * Logs a line for each request when its answer has been sent, or its connection has ended. The line has neither the
 * URL, which a stranger writes, nor any header.
 */
export function createAccessLog(log: Pick<Logger, "info">, trustProxy: boolean): AccessLog {
  return (exchange) => {
    const { incoming, outgoing } = exchange;
    const start = performance.now();
    const client = clientOf(incoming, trustProxy);
    outgoing.once("close", () => {
      const { context, route = "other", bytes } = exchange;
      const { requestId, call } = context;
      const { key } = call;
      const status = outgoing.headersSent ? outgoing.statusCode : undefined;
      const isCut = !outgoing.writableFinished;
      const payment = incoming.headers["payment-signature"] !== undefined;
      const ms = Math.round(performance.now() - start);
      const { method } = incoming;
      log.info(
        { requestId, method, route, status, bytes, ms, client, payment, key, ...(isCut && { isCut }) },
        "request",
      );
    });
  };
}
