import { z } from "zod";
import type { UpstreamNode } from "../config/config.ts";
import { hasCode, ServiceError } from "../errors.ts";
import { HttpProvider, MAX_BYTES } from "./http.ts";
import { unavailable } from "./provider.ts";

/** An answer of JSON-RPC 2.0. */
const Response = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});

export type CallOptions = {
  /** Of the answer. */
  maxBytes?: number;
  /** Whether the node runs a contract that a stranger has chosen. */
  isForeign?: boolean;
};

/** One JSON-RPC 2.0 node over HTTP, asked once for its network before anything else. */
export abstract class JsonRpc extends HttpProvider {
  readonly #maxBytes: number;
  #isNetworkChecked = false;

  /**
   * @param node its token is sent as a bearer token
   * @param maxBytes of an answer, unless a call says otherwise
   */
  constructor({ url, token }: UpstreamNode, maxBytes = MAX_BYTES) {
    super({ url, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
    this.#maxBytes = maxBytes;
  }

  /** Asks by `send` which network the node is on. @throws ProviderError when it is the wrong one */
  protected abstract checkNetwork(signal: AbortSignal): Promise<void>;

  /**
   * Calls a method. Members of `params` that are undefined are not sent.
   *
   * @returns the result; integers beyond 2^53 - 1 are bigint
   * @throws ProviderError when the node gives no usable answer or is on another network; its cause is `rpc_refused` when
   *   the node answered with an error. The signal's reason when the signal comes first
   */
  async call<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
    signal: AbortSignal,
    options?: CallOptions,
  ): Promise<z.infer<S>> {
    if (!this.#isNetworkChecked) await this.checkNetwork(signal);
    this.#isNetworkChecked = true;
    return this.send(method, params, schema, signal, options);
  }

  /** As `call`, whatever network the node is on. */
  protected async send<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
    signal: AbortSignal,
    options: CallOptions = {},
  ): Promise<z.infer<S>> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", path: "", headers, body, maxBytes: this.#maxBytes, ...options } as const;
    const answer = await this.request(request, signal);
    // Some nodes send their errors with a 4xx. A body that is not JSON-RPC is no answer, whatever the status.
    const { error, result } = this.read(answer, Response);
    if (error) {
      const message = `${this.name} refused ${method}: ${error.message.slice(0, 200)}`;
      throw unavailable(message, new ServiceError("rpc_refused", message, { details: { rpcCode: error.code } }));
    }
    if (result === undefined) throw unavailable(`${this.name} answered ${method} with neither result nor error`);
    return this.decode(() => schema.parse(result));
  }
}

/** The JSON-RPC error that a `call` failed with; undefined when it failed otherwise. */
export function refusalOf(error: unknown): ServiceError<"rpc_refused"> | undefined {
  const { cause } = error as { cause?: unknown };
  return hasCode(cause, "rpc_refused") ? cause : undefined;
}
