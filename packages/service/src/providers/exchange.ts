import type { IncomingMessage } from "node:http";
import { type RequestOutcome, ServiceError } from "../lib/errors.ts";
import { HttpAgent, HttpsAgent, requestByHttp, requestByHttps } from "../lib/node-http.ts";
import { hostClock } from "./host-clock.ts";

export type Sent = {
  method: "GET" | "POST";
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer> | string | undefined;
  /** The limit of the response body. */
  maxBytes: number;
  /** From the call to the end of the answer. */
  limitMs: number;
};

/** A complete answer, with headers as they were sent. Redirects are not followed. */
export type HttpAnswer = {
  status: number;
  body: Uint8Array;
  date?: string | undefined;
  retryAfter?: string | undefined;
  /** The PAYMENT-REQUIRED header of an attestd service. */
  offer?: string;
};

/** The limit of connections to one upstream. Further requests wait for one, within their time limits. */
const MAX_CONNECTIONS = 256;
/** How long an idle connection is kept, in ms: less than servers do, which might close it while a request is sent. */
const IDLE_MS = 4_000;

/**
 * Makes a client of one origin with kept-alive connections. It uses `node:http`, because `fetch` takes twice as long
 * for a small answer.
 * @returns a function that sends one request. Without a complete answer it throws upstream_unanswered, with a cause of
 *   which only `code` may be logged, or the signal's reason when the signal comes first. The connection is then closed
 */
export function exchangeWith(origin: string): (sent: Sent, signal: AbortSignal) => Promise<HttpAnswer> {
  const { protocol, host, hostname, port } = new URL(origin);
  const isPlain = protocol === "http:";
  const kept = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
  const agent = isPlain ? new HttpAgent(kept) : new HttpsAgent(kept);
  const request = isPlain ? requestByHttp : requestByHttps;
  // Passed in parts, because `request` would parse a URL each time.
  const target = { agent, hostname: hostname.replace(/^\[|\]$/g, ""), ...(port !== "" && { port }) };

  const begin = (method: string, path: string, headers: Sent["headers"]) => {
    try {
      return request({ ...target, method, path: path.startsWith("/") ? path : `/${path}`, headers });
    } catch (error) {
      // For example a token with a line break.
      throw unreadable(error);
    }
  };

  return async ({ method, path, headers, body, maxBytes, limitMs }, signal) => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const length = body === undefined ? undefined : { "content-length": String(Buffer.byteLength(body)) };
    const noteDate = hostClock.begin();
    const outgoing = begin(method, path, { ...headers, ...length });
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    };
    const fail = (error: unknown) => {
      stop();
      reject(error);
      outgoing.destroy();
    };
    // A destroyed request that waits for a connection reports nothing until it has one, so these reject at once.
    const leave = () => fail(signal.reason);
    const timer = setTimeout(() => fail(unanswered(`gave no complete answer within ${limitMs} ms`, "late")), limitMs);
    signal.addEventListener("abort", leave);
    const chunks: Buffer[] = [];
    let size = 0;
    outgoing.on("error", (error) => fail(unreadable(error)));
    outgoing.on("response", (response) => {
      const { date, age } = response.headers;
      noteDate(host, { date, age, address: response.socket.remoteAddress });
      response.on("error", (error) => fail(unreadable(error)));
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) fail(unanswered(`answered with more than ${maxBytes} bytes`, "too long"));
        else chunks.push(chunk);
      });
      response.on("end", () => {
        stop();
        resolve(answerOf(response, Buffer.concat(chunks, size)));
      });
    });
    outgoing.end(body);
    return promise;
  };
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, body: Buffer): HttpAnswer {
  const { date, "retry-after": retryAfter, "payment-required": offer } = headers;
  return { status: statusCode, body, date, retryAfter, ...(typeof offer === "string" && { offer }) };
}

/** @param message a predicate, whose subject is the upstream */
export function unanswered(message: string, ending: RequestOutcome, cause?: unknown): ServiceError {
  return new ServiceError("upstream_unanswered", message, { details: { ending }, cause });
}

/** Describes an error only by its code, because its text may contain a URL. */
function unreadable(error: unknown): ServiceError {
  const code = error instanceof Error && "code" in error ? `: ${error.code}` : "";
  return unanswered(`could not be read${code}`, "unreachable", error);
}
