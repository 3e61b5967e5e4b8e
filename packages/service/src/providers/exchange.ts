import { once } from "node:events";
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestByHttp } from "node:http";
import { Agent as HttpsAgent, request as requestByHttps } from "node:https";
import { type Ending, hasCode, ServiceError } from "../errors.ts";

export type Sent = {
  method: "GET" | "POST";
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer> | string | undefined;
  /** Of the response body. */
  maxBytes: number;
  /** From the call to the end of the answer. */
  limitMs: number;
};

/** A whole answer, with headers as they were sent. Redirects are not followed. */
export type HttpAnswer = {
  status: number;
  body: Uint8Array;
  date?: string;
  retryAfter?: string;
  /** PAYMENT-REQUIRED, of an attestd. */
  offer?: string;
};

/** Connections to one upstream. Further requests wait for one, within their time limits. */
const MAX_CONNECTIONS = 256;
/** How long an idle connection is kept: less than servers do, which might close it while a request is sent. */
const IDLE_MS = 4_000;

/**
 * Makes a client of one origin with kept-alive connections. It uses `node:http`, because `fetch` takes twice as long for a
 * small answer.
 *
 * @returns a function that sends one request. It throws upstream_unanswered when there is no whole answer, with the cause,
 *   of which only `code` may be logged; the signal's reason when the signal comes first. The connection is closed then.
 */
export function exchangeWith(origin: string): (sent: Sent, signal: AbortSignal) => Promise<HttpAnswer> {
  const isPlain = origin.startsWith("http:");
  const kept = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
  const agent = isPlain ? new HttpAgent(kept) : new HttpsAgent(kept);
  const request = isPlain ? requestByHttp : requestByHttps;

  return async ({ method, path, headers, body, maxBytes, limitMs }, signal) => {
    signal.throwIfAborted();
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    // A destroyed request that waits for a connection reports nothing until it has one: hence the race.
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave);
    const timer = setTimeout(() => reject(unanswered(`gave no whole answer within ${limitMs} ms`, "late")), limitMs);
    let outgoing: ClientRequest | undefined;
    try {
      outgoing = request(origin + path, { agent, method, headers: { ...headers, ...length } });
      // The response reports an error after its headers. Without a listener here it would end the process.
      outgoing.on("error", () => undefined);
      outgoing.end(body);
      return await Promise.race([readAnswer(outgoing, maxBytes), ended]);
    } catch (error) {
      outgoing?.destroy();
      signal.throwIfAborted();
      throw hasCode(error, "upstream_unanswered") ? error : unreadable(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    }
  };
}

async function readAnswer(outgoing: ClientRequest, maxBytes: number): Promise<HttpAnswer> {
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw unanswered(`answered with more than ${maxBytes} bytes`, "too long");
    chunks.push(chunk);
  }
  const { date, "retry-after": retryAfter, "payment-required": offer } = response.headers;
  return {
    status: response.statusCode ?? 0,
    body: Buffer.concat(chunks, size),
    ...(date !== undefined && { date }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(typeof offer === "string" && { offer }),
  };
}

/** @param message a predicate, whose subject is the upstream */
export function unanswered(message: string, ending: Ending, cause?: unknown): ServiceError {
  return new ServiceError("upstream_unanswered", message, { details: { ending }, cause });
}

/** Describes an error by its code alone: its text may hold a URL. */
function unreadable(error: unknown): ServiceError {
  const code = error instanceof Error && "code" in error ? `: ${error.code}` : "";
  return unanswered(`could not be read${code}`, "unreachable", error);
}
