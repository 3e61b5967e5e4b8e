import { fromUtf8 } from "@attestd/proof/encoding";
import { excerpt } from "@attestd/proof/text";
import { z } from "zod";
import { hasCode } from "../lib/errors.ts";
import { count, observe, shift } from "../observe/metrics/meter.ts";
import { currentContext } from "../observe/tracing/context.ts";
import { Breaker, type Vote } from "./breaker.ts";
import { exchangeWith, type HttpAnswer, unanswered } from "./exchange.ts";
import { parseLosslessJson } from "./json.ts";
import { type ProviderError, unavailable } from "./provider.ts";

export type HttpProviderOptions = {
  /** The base of every path. Credentials in it become an Authorization header. */
  url: string;
  /** Sent with every request; may contain a token, and never appears in errors. */
  headers?: Readonly<Record<string, string>>;
  /** Time-out per request, in ms. */
  timeoutMs?: number;
  /** By default a separate breaker; undefined for none, if the caller has one. */
  breaker?: Breaker | undefined;
};

export type HttpRequest = {
  method?: "GET" | "POST";
  /** Appended to the base URL's path; may have a query, to which the base URL's own is added. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer> | string;
  /** The limit of the response body. */
  maxBytes?: number;
  /**
   * The time-out of a request that the upstream answers only when something happens, in ms. It neither trips nor probes
   * the breaker, because a probe must not wait for an event.
   */
  longPollMs?: number;
  /**
   * Which breaker counts the request; by default the upstream's main one. `foreign`: the upstream runs a program or
   * contract that a stranger has chosen. `batch`: it answers about as many things as a stranger has chosen. Each has a
   * separate breaker, so that failures of such requests do not stop the others.
   */
  breakerName?: "foreign" | "batch" | undefined;
  /**
   * Whether 429 and 5xx count as answers, because their bodies may matter. The breaker still counts them as failures.
   */
  anyStatus?: boolean;
};

const TIMEOUT_MS = 5_000;
/** The default limit of a response body. */
export const MAX_BYTES = 8 * 1024 * 1024;

/**
 * One upstream over HTTP: refuses redirects, limits answers in size and time, and fails fast while the upstream is
 * down.
 */
export class HttpProvider {
  /** Host and port: the only part of the URL that certainly contains no secret. */
  readonly name: string;
  readonly #send: ReturnType<typeof exchangeWith>;
  readonly #path: string;
  readonly #query: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** Parts of a request that may be secret: an upstream may repeat them in a message. */
  readonly #secrets: readonly string[];
  readonly #timeoutMs: number;
  /** Undefined if the caller has a breaker. */
  readonly #breakers: Readonly<Record<"own" | "foreign" | "batch", Breaker>> | undefined;

  constructor(options: HttpProviderOptions) {
    const { url, headers = {}, timeoutMs = TIMEOUT_MS } = options;
    const { host, origin, pathname, search, username, password } = new URL(url);
    this.name = host;
    this.#send = exchangeWith(origin);
    this.#path = pathname.replace(/\/$/, "");
    this.#query = search.slice(1);
    this.#headers =
      username === "" && password === "" ? headers : { authorization: basic(username, password), ...headers };
    this.#secrets = [this.#path, this.#query, ...Object.values(this.#headers)].filter((part) => part !== "");
    this.#timeoutMs = timeoutMs;
    const onSwitch = (isOpen: boolean) => shift("breakers", { upstream: host }, isOpen ? 1 : -1);
    const own = "breaker" in options ? options.breaker : new Breaker({ onSwitch });
    this.#breakers = own && { own, foreign: new Breaker({ onSwitch }), batch: new Breaker({ onSwitch }) };
    // Gives the metric a sample for every upstream before the first one fails.
    shift("breakers", { upstream: host }, 0);
  }

  /**
   * @returns a complete answer; its status is below 300, or from 400 to 499 except 429, unless `anyStatus` was set
   * @throws ProviderError when there is no complete answer: refused, cut off, too slow, too large, redirected, 429 or
   *   5xx; the signal's reason when the signal comes first
   */
  async request(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const breaker = this.#breakers?.[request.breakerName ?? "own"];
    const attempt = (vote: (vote: Vote) => void) => this.#exchange(request, signal, vote);
    try {
      return await (breaker && request.longPollMs === undefined ? breaker.run(attempt) : attempt(() => undefined));
    } catch (error) {
      signal.throwIfAborted();
      if (!hasCode(error, "upstream_unanswered", "breaker_open")) throw error;
      if (error.code === "breaker_open") count("upstreamRequests", { upstream: this.name, outcome: "not_sent" });
      throw unavailable(`${this.name} ${error.message}`, error);
    }
  }

  /**
   * Requests something that may be absent. @returns undefined at 404. @throws ProviderError also at any other status
   * than 200
   */
  async find(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer | undefined> {
    const answer = await this.request(request, signal);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw this.unexpected(answer);
    return answer;
  }

  /**
   * Requests JSON of a known shape.
   * @throws ProviderError also when the answer is not 200, not JSON or has another shape
   */
  async json<S extends z.ZodType>(request: HttpRequest, schema: S, signal: AbortSignal): Promise<z.infer<S>> {
    const answer = await this.request(request, signal);
    if (answer.status !== 200) throw this.unexpected(answer);
    return this.read(answer, schema);
  }

  /** Parses an answer's JSON. @throws ProviderError when it is not JSON or has another shape */
  read<S extends z.ZodType>(answer: HttpAnswer, schema: S): z.infer<S> {
    return this.decode(() => schema.parse(parseLosslessJson(fromUtf8(answer.body))));
  }

  /** Runs a decoder of this provider's data; an error that it throws counts as the provider's failure. */
  decode<T>(decoder: () => T): T {
    try {
      return decoder();
    } catch (error) {
      throw unavailable(`${this.name} answered with data that cannot be read`, error);
    }
  }

  /** Makes the error for a status that the caller does not handle, with the `message` of a JSON body. */
  unexpected({ status, body }: HttpAnswer): ProviderError {
    const message = messageOf(body);
    const isRepeating = this.#secrets.some((secret) => message?.includes(secret));
    const why = message === undefined || isRepeating ? "" : `: ${message}`;
    return unavailable(`${this.name} answered HTTP ${status}${why}`);
  }

  async #exchange(
    { method = "GET", path, headers, body, maxBytes = MAX_BYTES, longPollMs, anyStatus }: HttpRequest,
    signal: AbortSignal,
    vote: (vote: Vote) => void,
  ): Promise<HttpAnswer> {
    const limitMs = longPollMs ?? this.#timeoutMs;
    const traceparent = currentContext()?.span?.traceparentFor(this.name);
    const all = { ...this.#headers, ...headers, ...(traceparent !== undefined && { traceparent }) };
    const sent = { method, path: this.#withBase(path), headers: all, body, maxBytes, limitMs };
    const start = performance.now();
    const conclude = (outcome: "failed" | "answered") => {
      vote(outcome);
      count("upstreamRequests", { upstream: this.name, outcome });
      if (longPollMs === undefined)
        observe("upstreamSeconds", { upstream: this.name }, (performance.now() - start) / 1000);
    };
    const answer = await this.#send(sent, signal).catch((error: unknown) => {
      // A caller's abort shows nothing about the provider, so the breaker must not count it.
      if (!signal.aborted) conclude("failed");
      throw error;
    });
    const fault = faultOf(answer);
    conclude(fault ? "failed" : "answered");
    if (fault && !(anyStatus && fault.isStatus)) throw unanswered(fault.message, answer.status);
    return answer;
  }

  #withBase(path: string): string {
    const separator = path.includes("?") ? "&" : "?";
    return this.#path + path + (this.#query === "" ? "" : separator + this.#query);
  }
}

/** How much of a body is searched for a message, in bytes. */
const MAX_MESSAGE_BODY = 16_384;

/** Returns the `message` of a JSON body, as algod and the indexer send it, in one line; undefined if there is none. */
function messageOf(body: Uint8Array): string | undefined {
  if (body.length > MAX_MESSAGE_BODY) return undefined;
  try {
    const { message } = z.object({ message: z.string() }).parse(JSON.parse(fromUtf8(body)));
    return excerpt(message.replaceAll(/\p{Cc}+/gu, " "), 200);
  } catch {
    return undefined;
  }
}

/** Returns why an answer does not count. A redirect never does, because the operator did not name its target. */
function faultOf({ status }: HttpAnswer): { message: string; isStatus: boolean } | undefined {
  if (status >= 300 && status < 400) return { message: "answered with a redirect", isStatus: false };
  if (status === 429 || status >= 500) return { message: `answered HTTP ${status}`, isStatus: true };
  return undefined;
}

function basic(username: string, password: string): string {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
