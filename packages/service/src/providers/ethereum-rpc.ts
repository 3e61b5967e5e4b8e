import { z } from "zod";
import type { Endpoint } from "../config/config.ts";
import { hexBytes } from "./hex-bytes.ts";
import { HttpProvider } from "./http.ts";
import { RpcRefusal, RpcResponse } from "./json-rpc.ts";
import { unavailable } from "./provider.ts";
import type { QuorumRules } from "./quorum.ts";

/** The nodes of one EVM chain. */
export type EthereumNodes = { rpcs: readonly EthereumRpc[]; rules: QuorumRules };

/** A whole block as JSON, its call data in hex. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** A JSON-RPC quantity (`0x`, hex, at least one digit), of which nodes disagree about leading zeros. */
const quantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const rpcInteger = quantity.transform(Number).pipe(z.int().nonnegative());
/** Bytes in hex, lower-cased: `0x` and an even number of digits. */
const rpcData = hexBytes.toLowerCase();

const Receipt = z.object({
  transactionHash: rpcData,
  blockHash: rpcData,
  blockNumber: rpcInteger,
  transactionIndex: rpcInteger,
});
const Block = z.object({
  number: rpcInteger,
  hash: rpcData,
  timestamp: rpcInteger,
  /** Hashes. */
  transactions: z.array(rpcData),
});
const Transaction = z.looseObject({ hash: rpcData, type: z.string().optional() });
const Header = z.looseObject({ hash: rpcData, transactions: z.array(rpcData) });
const FullBlock = z.object({ transactions: z.array(Transaction) });

export type Receipt = z.infer<typeof Receipt>;
export type Block = z.infer<typeof Block>;
/** A transaction as JSON-RPC has it; its `hash` is the provider's word. */
export type RpcTransaction = z.infer<typeof Transaction>;
/** A block as JSON-RPC has it: header members in hex, and the transactions' hashes, all the provider's word. */
export type RpcHeader = z.infer<typeof Header>;

/** The heads that Base tells: in a block; its batch on L1; that batch finalized. Never `pending`. */
export type Head = "latest" | "safe" | "finalized";

/**
 * One JSON-RPC node of an EVM chain. Every method throws ProviderError when the node gives no usable answer or is on
 * another chain, and the signal's reason when the signal comes first.
 */
export class EthereumRpc {
  readonly name: string;
  readonly #http: HttpProvider;
  readonly #chainId: number;
  #onChain = false;

  constructor({ url, token }: Endpoint, chainId: number) {
    this.#http = new HttpProvider({
      url,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
    this.name = this.#http.name;
    this.#chainId = chainId;
  }

  /** The receipt of a transaction in a block; undefined when the node knows of none. */
  async receipt(hash: string, signal: AbortSignal): Promise<Receipt | undefined> {
    return (await this.#read("eth_getTransactionReceipt", [hash], Receipt.nullable(), signal)) ?? undefined;
  }

  /** A transaction as JSON; undefined when the node knows of none. */
  async transaction(hash: string, signal: AbortSignal): Promise<RpcTransaction | undefined> {
    return (await this.#read("eth_getTransactionByHash", [hash], Transaction.nullable(), signal)) ?? undefined;
  }

  /** A block with its transactions' hashes; undefined when the node has none there. */
  async block(at: Head | number, signal: AbortSignal): Promise<Block | undefined> {
    const tag = typeof at === "number" ? toHex(at) : at;
    return (await this.#read("eth_getBlockByNumber", [tag, false], Block.nullable(), signal)) ?? undefined;
  }

  /** A block's header as it came; undefined when the node has none there. */
  async header(number: number, signal: AbortSignal): Promise<RpcHeader | undefined> {
    return (await this.#read("eth_getBlockByNumber", [toHex(number), false], Header.nullable(), signal)) ?? undefined;
  }

  /** The transactions of a block, as JSON; undefined when the node knows of none with this hash. */
  async blockTransactions(hash: string, signal: AbortSignal): Promise<RpcTransaction[] | undefined> {
    const block = await this.#read("eth_getBlockByHash", [hash, true], FullBlock.nullable(), signal);
    return block?.transactions;
  }

  /** Bytes by any method that gives hex, unchecked; undefined when the node has none or lacks the method. */
  async raw(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Uint8Array | undefined> {
    try {
      const hex = this.#parse(rpcData.nullable(), await this.call(method, params, signal));
      return hex === null || hex === "0x" ? undefined : Uint8Array.fromHex(hex.slice(2));
    } catch (error) {
      if (error instanceof RpcRefusal) return undefined;
      throw error;
    }
  }

  /**
   * Calls any method.
   * @param isForeign whether it runs a contract that a stranger has chosen
   * @returns the result, integers beyond 2^53 - 1 as bigint
   * @throws RpcRefusal when the node answers with an error; ProviderError when it gives no usable answer
   */
  async call(method: string, params: readonly unknown[], signal: AbortSignal, isForeign = false): Promise<unknown> {
    if (!this.#onChain) {
      const chainId = this.#parse(rpcInteger, await this.#call("eth_chainId", [], signal));
      if (chainId !== this.#chainId) throw unavailable(`${this.name} is on chain ${chainId}, not ${this.#chainId}`);
      this.#onChain = true;
    }
    return this.#call(method, params, signal, isForeign);
  }

  async #call(method: string, params: readonly unknown[], signal: AbortSignal, isForeign = false): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", path: "", headers, body, maxBytes: MAX_ANSWER_BYTES, isForeign } as const;
    const answer = await this.#http.request(request, signal);
    // Some nodes answer their errors with a 4xx; a body that is no JSON-RPC is no answer, whatever the status.
    const { error, result } = this.#http.read(answer, RpcResponse);
    if (error) throw new RpcRefusal(error.code, `${this.name} refused ${method}: ${error.message.slice(0, 200)}`);
    if (result === undefined) throw unavailable(`${this.name} answered ${method} with neither result nor error`);
    return result;
  }

  async #read<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
    signal: AbortSignal,
  ): Promise<z.infer<S>> {
    const result = await this.call(method, params, signal).catch((error: unknown) => {
      throw error instanceof RpcRefusal ? unavailable(error.message, error) : error;
    });
    return this.#parse(schema, result);
  }

  #parse<S extends z.ZodType>(schema: S, result: unknown): z.infer<S> {
    return this.#http.decode(() => schema.parse(result));
  }
}

function toHex(number: number): string {
  return `0x${number.toString(16)}`;
}
