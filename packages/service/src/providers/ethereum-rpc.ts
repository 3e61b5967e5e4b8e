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

/** Room for a whole block as JSON, with its call data in hex. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Headers per batch: each has the hashes of all transactions of its block, up to some 100 kB. */
const MAX_HEADERS = 20;

export const rpcInteger = hexQuantity.transform(Number).pipe(z.int().nonnegative());
/** Hex bytes, converted to lower case: `0x` and an even number of digits. */
export const rpcBytes = hexBytes.transform((text) => text.toLowerCase() as Hex);

const hash = hexBytes.toLowerCase();
/** Something that a node may lack: it answers null then. */
const ifAny = <S extends z.ZodType>(schema: S) => schema.nullable().transform((answer) => answer ?? undefined);

const Receipt = z.object({
  transactionHash: hash,
  blockHash: hash,
  blockNumber: rpcInteger,
  transactionIndex: rpcInteger,
  /** The status, which receipts have since Byzantium, before every block of Base. */
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
/** A block's header from JSON-RPC, unchecked. */
export type RpcHeader = z.infer<typeof Header>;
/** A transaction from JSON-RPC; its `hash` is unchecked. */
export type RpcTransaction = z.infer<typeof Transaction>;

/** Block tags. On Base: in a block; its batch is on L1; that batch is finalized. Never `pending`. */
export type Head = "latest" | "safe" | "finalized";

/**
 * A client of one JSON-RPC node of an Ethereum chain. Every method throws ProviderError when the node gives no usable
 * answer or is on another chain, and the signal's reason when the signal comes first.
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

  /** Reads receipts of transactions in blocks, like `callEach`; undefined for each that the node lacks. */
  async receipts(hashes: readonly string[], signal: AbortSignal) {
    const params = hashes.map((hash) => [hash]);
    return this.callEach("eth_getTransactionReceipt", params, ifAny(Receipt), signal);
  }

  /** Reads transactions as JSON, like `callEach`; undefined for each that the node lacks. */
  async transactions(hashes: readonly string[], signal: AbortSignal) {
    const params = hashes.map((hash) => [hash]);
    return this.callEach("eth_getTransactionByHash", params, ifAny(Transaction), signal);
  }

  /** Reads a block with its transactions' hashes; undefined when the node has none there. */
  async block(at: Head | number, signal: AbortSignal): Promise<Block | undefined> {
    const tag = typeof at === "number" ? numberToHex(at) : at;
    return this.call("eth_getBlockByNumber", [tag, false], ifAny(Block), signal);
  }

  /** Reads the number of the newest block: the cheapest question for a node. */
  async blockNumber(signal: AbortSignal): Promise<number> {
    return this.call("eth_blockNumber", [], rpcInteger, signal);
  }

  /** Reads the newest block. */
  async latest(signal: AbortSignal): Promise<Block> {
    const block = await this.block("latest", signal);
    if (!block) throw unavailable(`${this.name} has no latest block`);
    return block;
  }

  /**
   * Reads a block's header members in hex and its transactions' hashes, unchecked; undefined when the node has none
   * there.
   */
  async header(number: number, signal: AbortSignal): Promise<RpcHeader | undefined> {
    return this.call("eth_getBlockByNumber", [numberToHex(number), false], ifAny(Header), signal);
  }

  /** Reads several headers; returns or throws for each like `header`. */
  async headers(numbers: readonly number[], signal: AbortSignal) {
    const params = numbers.map((number) => [numberToHex(number), false]);
    return this.callEach("eth_getBlockByNumber", params, ifAny(Header), signal, MAX_HEADERS);
  }

  /** Reads the transactions of a block, as JSON; undefined when the node has no block with this hash. */
  async blockTransactions(hash: string, signal: AbortSignal): Promise<RpcTransaction[] | undefined> {
    return (await this.call("eth_getBlockByHash", [hash, true], ifAny(FullBlock), signal))?.transactions;
  }

  /**
   * Reads unchecked bytes with a method that answers in hex, for each list of parameters like `callEach`; undefined
   * when the node has none, or refuses the method.
   */
  async raws(method: string, params: readonly (readonly unknown[])[], signal: AbortSignal) {
    return (await this.callEach(method, params, ifAny(rpcBytes), signal)).map((hex) => {
      if (hex instanceof Error) return refusalOf(hex) ? undefined : hex;
      return hex === undefined || hex === "0x" ? undefined : Uint8Array.fromHex(hex.slice(2));
    });
  }
}
