import { fromUtf8 } from "@attestd/proof";
import {
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleType,
  isBrokenCircuitError,
  TimeoutStrategy,
  timeout,
} from "cockatiel";
import type { z } from "zod";
import { parseLosslessJson } from "./json.ts";
import { type ProviderError, unavailable } from "./provider.ts";

export type HttpProviderOptions = {
  /** Base of every path. Credentials in it become an Authorization header. */
  url: string;
  /** Sent with every request; may carry a token, and never appears in errors. */
  headers?: Readonly<Record<string, string>>;
  /** Per request. */
  timeoutMs?: number;
};

export type HttpRequest = {
  method?: "GET" | "POST";
  /** Appended to the base URL's path; may have a query, to which the base URL's own is added. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer> | string;
  /** Of the decoded response body. */
  maxBytes?: number;
  /**
   * A request that the upstream answers only when something happens, within this time. It neither trips nor probes the
   * circuit breaker: other callers wait for a probe, and must not wait for an event.
   */
  longPollMs?: number;
};

/** A whole answer below 500 other than 429. */
export type HttpAnswer = { status: number; body: Uint8Array };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** Failures in a row after which a provider is left alone for a while. */
const BREAK_AFTER = 5;
const REST_MS = { initialDelay: 1_000, maxDelay: 30_000 };

class Unanswered extends Error {}

/**
 * One upstream over HTTP: redirects refused, answers bounded in size and time, failing fast while the upstream is down.
 */
export class HttpProvider {
  /** Host and port: all of the URL that is known to hold no secret. */
  readonly name: string;
  readonly #base: string;
  readonly #query: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #breaker: CircuitBreakerPolicy;

  constructor({ url, headers = {}, timeoutMs = TIMEOUT_MS }: HttpProviderOptions) {
    const { host, origin, pathname, search, username, password } = new URL(url);
    this.name = host;
    this.#base = origin + pathname.replace(/\/$/, "");
    this.#query = search.slice(1);
    this.#headers =
      username === "" && password === "" ? headers : { authorization: basic(username, password), ...headers };
    this.#timeoutMs = timeoutMs;
    this.#breaker = circuitBreaker(handleType(Unanswered), {
      breaker: new ConsecutiveBreaker(BREAK_AFTER),
      halfOpenAfter: new ExponentialBackoff(REST_MS),
    });
  }

  /**
   * @throws ProviderError when there is no whole answer: refused, cut off, too slow, too large, redirected, 429 or 5xx;
   * the signal's reason when the signal comes first
   */
  async request(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    signal.throwIfAborted();
    const limit = request.longPollMs ?? this.#timeoutMs;
    // Outermost, so that a caller is never held behind another caller's probe of an open circuit.
    const deadline = timeout(limit, TimeoutStrategy.Aggressive);
    try {
      return await deadline.execute(({ signal: ends }) => {
        const attempt = () => this.#exchange(request, ends, signal);
        return request.longPollMs === undefined ? this.#breaker.execute(attempt, ends) : attempt();
      }, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw unavailable(`${this.name} ${this.#why(error, limit)}`, error);
    }
  }

  /**
   * Requests JSON of a known shape.
   * @throws ProviderError also when the answer is not 200, not JSON or of another shape
   */
  async json<S extends z.ZodType>(request: HttpRequest, schema: S, signal: AbortSignal): Promise<z.infer<S>> {
    const answer = await this.request(request, signal);
    if (answer.status !== 200) throw this.unexpected(answer);
    return this.read(answer, schema);
  }

  /** The JSON of an answer. @throws ProviderError when it is not JSON or of another shape */
  read<S extends z.ZodType>(answer: HttpAnswer, schema: S): z.infer<S> {
    return this.decode(() => schema.parse(parseLosslessJson(fromUtf8(answer.body))));
  }

  /** Runs a decoder of this provider's data: what it throws is the provider's failure. */
  decode<T>(decoder: () => T): T {
    try {
      return decoder();
    } catch (error) {
      throw unavailable(`${this.name} answered with data that cannot be read`, error);
    }
  }

  /** The error for a status that a call has no use for. */
  unexpected(answer: HttpAnswer): ProviderError {
    return unavailable(`${this.name} answered HTTP ${answer.status}`);
  }

  async #exchange(request: HttpRequest, ends: AbortSignal, caller: AbortSignal): Promise<HttpAnswer> {
    try {
      const response = await fetch(this.#url(request.path), {
        method: request.method ?? "GET",
        headers: { ...this.#headers, ...request.headers },
        body: request.body ?? null,
        redirect: "error",
        signal: ends,
      });
      const body = await readBounded(response, request.maxBytes ?? MAX_BYTES);
      if (response.status === 429 || response.status >= 500) throw new Unanswered(`answered HTTP ${response.status}`);
      return { status: response.status, body };
    } catch (error) {
      // A caller who leaves says nothing about the provider, so the breaker must not count it.
      caller.throwIfAborted();
      throw error instanceof Unanswered ? error : new Unanswered(reason(error), { cause: error });
    }
  }

  #url(path: string): string {
    const separator = path.includes("?") ? "&" : "?";
    return this.#base + path + (this.#query === "" ? "" : separator + this.#query);
  }

  #why(error: unknown, limit: number): string {
    if (error instanceof Unanswered) return error.message;
    if (isBrokenCircuitError(error)) return "is left alone after repeated failures";
    return `gave no whole answer within ${limit} ms`;
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > maxBytes) throw new Unanswered(`answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** fetch says "fetch failed" and hides the reason in the cause; only its code is told, never text that may hold a URL. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  if (code !== undefined) return `could not be read: ${code}`;
  if (cause instanceof Error && cause.message === "unexpected redirect") return "answered with a redirect";
  return "could not be read";
}

function basic(username: string, password: string): string {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
