import { z } from "zod";
import type { UpstreamNode } from "../config/config.ts";
import { hasCode, ServiceError } from "../lib/errors.ts";
import type { HttpAnswer } from "./exchange.ts";
import { HttpProvider, type HttpRequest, MAX_BYTES } from "./http.ts";
import { isProviderError, orProviderError, type ProviderError, unavailable } from "./provider.ts";

/** An answer of JSON-RPC 2.0. */
const Response = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});
type Response = z.infer<typeof Response>;
/** The answers to a batch, in any order (JSON-RPC 2.0, section 6). */
const Responses = z.array(Response.extend({ id: z.unknown() }));

type CallOptions = Pick<HttpRequest, "maxBytes" | "breakerName">;

/** The parameters of one call. */
type Params = readonly unknown[];

type Answers<S extends z.ZodType> = (z.infer<S> | ProviderError)[];

/** The common parameters of `callEach`'s calls. */
type Some<S extends z.ZodType> = {
  method: string;
  schema: S;
  signal: AbortSignal;
  breakerName: HttpRequest["breakerName"];
};

const HEADERS = { "content-type": "application/json" };
/** Calls per batch, unless the caller or the node requires fewer. */
const MAX_BATCH = 100;
/** Concurrent calls to a node that accepts no batches. */
const MAX_SINGLE_AT_ONCE = 8;
/** go-ethereum's error for a call in a batch whose answer would be too long (`rpc/errors.go`). */
const RESPONSE_TOO_LARGE = -32003;

/** A client of one JSON-RPC 2.0 node over HTTP. Before anything else it asks once for the node's network. */
export abstract class JsonRpc extends HttpProvider {
  readonly #maxBytes: number;
  #isNetworkChecked = false;
  /** The number of calls that the node accepts in one batch, as far as known. */
  #maxBatch = MAX_BATCH;

  /**
   * @param node its token is sent as a bearer token
   * @param maxBytes of an answer, unless a call says otherwise
   */
  constructor({ url, token }: UpstreamNode, maxBytes = MAX_BYTES) {
    super({ url, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
    this.#maxBytes = maxBytes;
  }

  /** Asks with `send` which network the node is on. @throws ProviderError when it is the wrong one */
  protected abstract checkNetwork(signal: AbortSignal): Promise<void>;

  /**
   * Calls a method. Undefined members of `params` are not sent.
   * @returns the result; integers beyond 2^53 - 1 are bigint
   * @throws ProviderError when the node gives no usable answer or is on another network; its cause is `rpc_refused`
   *   when the node answered with an error. The signal's reason when the signal comes first
   */
  async call<S extends z.ZodType>(
    method: string,
    params: Params,
    schema: S,
    signal: AbortSignal,
    options?: CallOptions,
  ): Promise<z.infer<S>> {
    await this.#requireNetwork(signal);
    return this.send(method, params, schema, signal, options);
  }

  /**
   * Calls a method once for each list of parameters, in batches of JSON-RPC 2.0 if the node accepts them; a single call
   * is sent like `call`. A batch that the node refuses, or does not answer within the limits of time and bytes, is
   * halved, because the caller does not know the size of its answers. A call to which a batch brought no answer, or
   * several, is repeated.
   * @param maxBatch calls in one batch
   * @returns what `call` returns or throws for each, in order
   * @throws the signal's reason when the signal comes first
   */
  async callEach<S extends z.ZodType>(
    method: string,
    params: readonly Params[],
    schema: S,
    signal: AbortSignal,
    maxBatch = MAX_BATCH,
  ): Promise<Answers<S>> {
    const some = { method, schema, signal, breakerName: params.length > 1 ? ("batch" as const) : undefined };
    return this.#callAll(some, params, maxBatch);
  }

  /** Calls like `call`, whatever network the node is on. */
  protected async send<S extends z.ZodType>(
    method: string,
    params: Params,
    schema: S,
    signal: AbortSignal,
    options: CallOptions = {},
  ): Promise<z.infer<S>> {
    const answer = await this.#post({ jsonrpc: "2.0", id: 1, method, params }, signal, options);
    // Some nodes send errors with a 4xx. A body that is not JSON-RPC is not an answer, whatever the status.
    return this.#resultOf(method, this.read(answer, Response), schema);
  }

  async #requireNetwork(signal: AbortSignal): Promise<void> {
    if (!this.#isNetworkChecked) await this.checkNetwork(signal);
    this.#isNetworkChecked = true;
  }

  async #post(content: object, signal: AbortSignal, options: CallOptions): Promise<HttpAnswer> {
    const body = JSON.stringify(content);
    return this.request(
      { method: "POST", path: "", headers: HEADERS, body, maxBytes: this.#maxBytes, ...options },
      signal,
    );
  }

  #resultOf<S extends z.ZodType>(method: string, { error, result }: Response, schema: S): z.infer<S> {
    if (error) {
      const message = `${this.name} refused ${method}: ${error.message.slice(0, 200)}`;
      throw unavailable(message, new ServiceError("rpc_refused", message, { details: { rpcCode: error.code } }));
    }
    if (result === undefined) throw unavailable(`${this.name} answered ${method} with neither result nor error`);
    return this.decode(() => schema.parse(result));
  }

  async #callAll<S extends z.ZodType>(some: Some<S>, params: readonly Params[], maxBatch: number): Promise<Answers<S>> {
    const answers: Answers<S> = [];
    while (answers.length < params.length) {
      const size = Math.min(maxBatch, this.#maxBatch);
      const atOnce = params.slice(answers.length, answers.length + (size === 1 ? MAX_SINGLE_AT_ONCE : size));
      const parts = size === 1 ? atOnce.map((one) => [one]) : [atOnce];
      answers.push(...(await Promise.all(parts.map((part) => this.#callSome(some, part)))).flat());
    }
    return answers;
  }

  /** Calls like `callEach`, starting with one batch. @param params not empty */
  async #callSome<S extends z.ZodType>(some: Some<S>, params: readonly Params[]): Promise<Answers<S>> {
    const { method, schema, signal, breakerName } = some;
    const [first = []] = params;
    const half = Math.ceil(params.length / 2);
    try {
      if (params.length === 1) return [await this.call(method, first, schema, signal, { breakerName })];
      const responses = await this.#batch(some, params);
      const unanswered = [...params.keys()].filter((index) => !responses.has(index));
      if (responses.size === 0) return await this.#callAll(some, params, half);
      const again = unanswered.map((index) => params[index] as Params);
      const repeated = await this.#callAll(some, again, again.length);
      return params.map((_, index) => {
        const response = responses.get(index);
        if (response === undefined) return repeated[unanswered.indexOf(index)] as z.infer<S>;
        return orProviderError(() => this.#resultOf(method, response, schema));
      });
    } catch (error) {
      if (!isProviderError(error)) throw error;
      if (params.length > 1 && isTooMuch(error)) return this.#callAll(some, params, half);
      return params.map(() => error);
    }
  }

  /**
   * Sends a batch.
   * @returns the answer to each call that was answered exactly once, by its index; empty if the node does not accept
   *   such a batch, which is remembered
   * @throws ProviderError when there is no answer
   */
  async #batch(
    { method, signal, breakerName }: Some<z.ZodType>,
    params: readonly Params[],
  ): Promise<Map<number, Response>> {
    await this.#requireNetwork(signal);
    const calls = params.map((list, index) => ({ jsonrpc: "2.0", id: index + 1, method, params: list }));
    const answer = await this.#post(calls, signal, { maxBytes: MAX_BYTES, breakerName });
    const responses = this.#readBatch(answer);
    if (!responses) this.#maxBatch = Math.min(this.#maxBatch, Math.ceil(params.length / 2));
    const byId = Map.groupBy(responses ?? [], ({ id }) => id);
    const known = new Map<number, Response>();
    for (const index of params.keys()) {
      const [response, ...others] = byId.get(index + 1) ?? [];
      if (response && others.length === 0 && response.error?.code !== RESPONSE_TOO_LARGE) known.set(index, response);
    }
    return known;
  }

  /**
   * Reads a batch's answer. Anything but a list of answers refuses the batch, with any status: most nodes send one
   * error in place of the list.
   */
  #readBatch(answer: HttpAnswer): z.infer<typeof Responses> | undefined {
    try {
      return this.read(answer, Responses);
    } catch {
      return undefined;
    }
  }
}

/** Returns the JSON-RPC error with which a `call` failed; undefined when it failed otherwise. */
export function refusalOf(error: unknown): ServiceError<"rpc_refused"> | undefined {
  const { cause } = error as { cause?: unknown };
  return hasCode(cause, "rpc_refused") ? cause : undefined;
}

/** Whether an answer was longer, or took longer, than allowed. */
function isTooMuch({ cause }: ProviderError): boolean {
  return (
    hasCode(cause, "upstream_unanswered") && ["late", "too long"].some((ending) => ending === cause.details.ending)
  );
}
