import type { Hex } from "viem";
import { numberToHex } from "viem/utils";
import { z } from "zod";
import type { UpstreamNode } from "../config/config.ts";
import { hexBytes, hexQuantity } from "./hex-bytes.ts";
import { JsonRpc, refusalOf } from "./json-rpc.ts";
import { unavailable } from "./provider.ts";
import type { QuorumRules } from "./quorum.ts";

/** The nodes of one Ethereum chain. */
export type EthereumNodes = { rpcs: readonly EthereumRpc[]; rules: QuorumRules };

/** A whole block as JSON, its call data in hex. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Headers in one batch: each has the hashes of all transactions of its block, up to some 100 kB. */
const MAX_HEADERS = 20;

export const rpcInteger = hexQuantity.transform(Number).pipe(z.int().nonnegative());
/** Bytes in hex, lower-cased: `0x` and an even number of digits. */
export const rpcBytes = hexBytes.transform((text) => text.toLowerCase() as Hex);

const hash = hexBytes.toLowerCase();
/** What a node may not have: it answers null then. */
const ifAny = <S extends z.ZodType>(schema: S) => schema.nullable().transform((answer) => answer ?? undefined);

const Receipt = z.object({
  transactionHash: hash,
  blockHash: hash,
  blockNumber: rpcInteger,
  transactionIndex: rpcInteger,
  /** Since Byzantium, which is before every block of Base. */
  status: rpcInteger.pipe(z.union([z.literal(0), z.literal(1)])),
});
const Block = z.object({
  number: rpcInteger,
  hash,
  timestamp: rpcInteger,
  /** Hashes. */
  transactions: z.array(hash),
});
const Transaction = z.looseObject({ hash, type: z.string().optional() });
const Header = z.looseObject({ hash, transactions: z.array(hash) });
const FullBlock = z.object({ transactions: z.array(Transaction) });

export type Receipt = z.infer<typeof Receipt>;
export type Block = z.infer<typeof Block>;
/** A block's header as JSON-RPC has it, unchecked. */
export type RpcHeader = z.infer<typeof Header>;
/** A transaction as JSON-RPC has it; its `hash` is unchecked. */
export type RpcTransaction = z.infer<typeof Transaction>;

/** Block tags; on Base: in a block; its batch is on L1; that batch is finalized. Never `pending`. */
export type Head = "latest" | "safe" | "finalized";

/**
 * One JSON-RPC node of an Ethereum chain. Every method throws ProviderError when the node gives no usable answer or is on
 * another chain, and the signal's reason when the signal comes first.
 */
export class EthereumRpc extends JsonRpc {
  readonly #chainId: number;

  constructor(node: UpstreamNode, chainId: number) {
    super(node, MAX_ANSWER_BYTES);
    this.#chainId = chainId;
  }

  protected async checkNetwork(signal: AbortSignal): Promise<void> {
    const chainId = await this.send("eth_chainId", [], rpcInteger, signal);
    if (chainId !== this.#chainId) throw unavailable(`${this.name} is on chain ${chainId}, not ${this.#chainId}`);
  }

  /** The receipts of transactions in blocks, as `callEach` returns them; undefined for one of which the node has none. */
  async receipts(hashes: readonly string[], signal: AbortSignal) {
    const params = hashes.map((hash) => [hash]);
    return this.callEach("eth_getTransactionReceipt", params, ifAny(Receipt), signal);
  }

  /** Transactions as JSON, as `callEach` returns them; undefined for one that the node does not have. */
  async transactions(hashes: readonly string[], signal: AbortSignal) {
    const params = hashes.map((hash) => [hash]);
    return this.callEach("eth_getTransactionByHash", params, ifAny(Transaction), signal);
  }

  /** A block with its transactions' hashes; undefined when the node has none there. */
  async block(at: Head | number, signal: AbortSignal): Promise<Block | undefined> {
    const tag = typeof at === "number" ? numberToHex(at) : at;
    return this.call("eth_getBlockByNumber", [tag, false], ifAny(Block), signal);
  }

  /** The number of the newest block, which costs a node least of all to tell. */
  async blockNumber(signal: AbortSignal): Promise<number> {
    return this.call("eth_blockNumber", [], rpcInteger, signal);
  }

  /** The newest block. */
  async latest(signal: AbortSignal): Promise<Block> {
    const block = await this.block("latest", signal);
    if (!block) throw unavailable(`${this.name} has no latest block`);
    return block;
  }

  /** A block's header members in hex and its transactions' hashes, unchecked; undefined when the node has none there. */
  async header(number: number, signal: AbortSignal): Promise<RpcHeader | undefined> {
    return this.call("eth_getBlockByNumber", [numberToHex(number), false], ifAny(Header), signal);
  }

  /** Several headers, each as `header` returns or throws it. */
  async headers(numbers: readonly number[], signal: AbortSignal) {
    const params = numbers.map((number) => [numberToHex(number), false]);
    return this.callEach("eth_getBlockByNumber", params, ifAny(Header), signal, MAX_HEADERS);
  }

  /** The transactions of a block, as JSON; undefined when the node has no block with this hash. */
  async blockTransactions(hash: string, signal: AbortSignal): Promise<RpcTransaction[] | undefined> {
    return (await this.call("eth_getBlockByHash", [hash, true], ifAny(FullBlock), signal))?.transactions;
  }

  /**
   * Unchecked bytes from a method that answers in hex, for each list of parameters as `callEach`; undefined when the node has
   * none, or refuses the method.
   */
  async raws(method: string, params: readonly (readonly unknown[])[], signal: AbortSignal) {
    return (await this.callEach(method, params, ifAny(rpcBytes), signal)).map((hex) => {
      if (hex instanceof Error) return refusalOf(hex) ? undefined : hex;
      return hex === undefined || hex === "0x" ? undefined : Uint8Array.fromHex(hex.slice(2));
    });
  }
}
