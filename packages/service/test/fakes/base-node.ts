import type { ServerResponse } from "node:http";
import {
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  keccak256,
  numberToHex,
  padHex,
  parseAbi,
  toHex,
} from "viem";
import { BASE } from "../../src/payment/rails/base/usdc.ts";
import { json, Upstream } from "./providers.ts";

const ABI = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function balanceOf(address account) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function isBlacklisted(address account) view returns (bool)",
  "function paused() view returns (bool)",
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
const eventId = (signature: string) => keccak256(toHex(signature));
const EVENTS = {
  used: eventId("AuthorizationUsed(address,bytes32)"),
  cancelled: eventId("AuthorizationCanceled(address,bytes32)"),
  transfer: eventId("Transfer(address,address,uint256)"),
};
const word = (address: string) => padHex(address.toLowerCase() as Hex, { size: 32 });

type FakeLog = { address: string; topics: Hex[]; data: Hex; block: number; index: number; transaction: Hex };
type Receipt = { status: number; logs: FakeLog[]; blockHash?: Hex };

/** A Base node with a hand-made chain, behind real JSON-RPC on loopback. */
export class FakeBaseNode {
  chainId = 8453;
  /** Seconds between blocks, and of Unix time at block 0. */
  readonly interval: number;
  readonly begins: number;
  head: number;
  finalized: number;
  domain = { name: "USD Coin", version: "2" };
  /** Blocks in one query for logs. */
  maxBlocks = 1_000;
  /** Authorizations that count as used without a log. */
  readonly stateOnly = new Set<string>();
  /** Contracts by address, with the signature that each accepts. */
  readonly wallets = new Map<string, Hex | "reverts">();
  /** Addresses in lower case. */
  readonly blacklist = new Set<string>();
  paused = false;
  readonly balances = new Map<string, bigint>();
  readonly receipts = new Map<Hex, Receipt>();
  /** Inputs of transactions; default: empty. */
  readonly inputs = new Map<Hex, Hex>();
  readonly asked: string[] = [];
  /** Changes the answer to a method. */
  distort: (method: string, answer: unknown, params: unknown[]) => unknown = (_, answer) => answer;
  readonly #upstream: Upstream;

  private constructor(upstream: Upstream, { time, head, interval }: { time: number; head: number; interval: number }) {
    this.#upstream = upstream;
    this.interval = interval;
    this.begins = time - head * interval;
    this.head = head;
    this.finalized = head - 100;
  }

  /** @param chain its head, made at `time` */
  static async start(chain: { time: number; head: number; interval: number }): Promise<FakeBaseNode> {
    const upstream = await Upstream.start((request, response) =>
      node.#serve(JSON.parse(String(request.body)), response),
    );
    const node = new FakeBaseNode(upstream, chain);
    return node;
  }

  get url(): string {
    return this.#upstream.url;
  }

  /** Lets seconds pass; the finalized block follows at the same distance. */
  pass(seconds: number): void {
    const blocks = Math.floor(seconds / this.interval);
    this.head += blocks;
    this.finalized += blocks;
  }

  close(): Promise<void> {
    return this.#upstream.close();
  }

  timeOf(block: number): number {
    return Math.floor(this.begins + block * this.interval);
  }

  hashOf(block: number): Hex {
    return padHex(numberToHex(0xb10c_0000 + block), { size: 32 });
  }

  /** A successful transaction that uses the authorization, and the transfer right after it. */
  use(block: number, { from, to, value, nonce }: { from: string; to: string; value: bigint; nonce: Hex }): Hex {
    return this.transaction(block, [
      { topics: [EVENTS.used, word(from), nonce] },
      { topics: [EVENTS.transfer, word(from), word(to)], data: padHex(numberToHex(value), { size: 32 }) },
    ]);
  }

  cancel(block: number, { from, nonce }: { from: string; nonce: Hex }): Hex {
    return this.transaction(block, [{ topics: [EVENTS.cancelled, word(from), nonce] }]);
  }

  /** A transaction with logs of the token, in their order; `index` moves one. */
  transaction(
    block: number,
    logs: readonly { topics: Hex[]; data?: Hex; address?: string; index?: number }[],
    status = 1,
  ): Hex {
    const transaction = keccak256(toHex(`${block} ${this.receipts.size}`));
    const made = logs.map(({ topics, data = "0x", address = BASE.asset, index }, i) => {
      return { address: address.toLowerCase(), topics, data, block, index: index ?? 7 + i, transaction } as FakeLog;
    });
    this.receipts.set(transaction, { status, logs: made });
    return transaction;
  }

  #serve({ method, params }: { method: string; params: unknown[] }, response: ServerResponse): void {
    this.asked.push(method);
    try {
      const result = this.distort(method, this.#answer(method, params), params);
      json(response, { jsonrpc: "2.0", id: 1, result });
    } catch (error) {
      const { code = -32603, message } = error as { code?: number; message: string };
      json(response, { jsonrpc: "2.0", id: 1, error: { code, message } });
    }
  }

  #answer(method: string, params: unknown[]): unknown {
    switch (method) {
      case "eth_chainId":
        return numberToHex(this.chainId);
      case "eth_getBlockByNumber":
        return this.#block(params[0] as string);
      case "eth_getCode":
        return this.wallets.has((params[0] as string).toLowerCase()) ? "0x6001" : "0x";
      case "eth_call":
        return this.#call(params[0] as { to: string; data: Hex }, this.#number(params[1] as string));
      case "eth_getLogs":
        return this.#logs(params[0] as { address: string; topics: Hex[]; fromBlock: Hex; toBlock: Hex });
      case "eth_getTransactionReceipt":
        return this.#receipt(params[0] as Hex);
      case "eth_getTransactionByHash":
        return { hash: params[0], input: this.inputs.get(params[0] as Hex) ?? "0x" };
      default:
        throw Object.assign(new Error(`the method ${method} does not exist`), { code: -32601 });
    }
  }

  #number(tag: string): number {
    return tag === "latest" ? this.head : tag === "finalized" ? this.finalized : Number(tag);
  }

  #block(tag: string) {
    const number = this.#number(tag);
    if (number > this.head) return null;
    const [hash, timestamp] = [this.hashOf(number), numberToHex(this.timeOf(number))];
    return { number: numberToHex(number), hash, timestamp, transactions: [] };
  }

  #call({ to, data }: { to: string; data: Hex }, block: number): Hex {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data });
    switch (functionName) {
      case "name":
      case "version":
        return encodeFunctionResult({ abi: ABI, functionName, result: this.domain[functionName] });
      case "balanceOf":
        return encodeFunctionResult({ abi: ABI, functionName, result: this.balances.get(args[0].toLowerCase()) ?? 0n });
      case "isBlacklisted":
        return encodeFunctionResult({ abi: ABI, functionName, result: this.blacklist.has(args[0].toLowerCase()) });
      case "paused":
        return encodeFunctionResult({ abi: ABI, functionName, result: this.paused });
      case "authorizationState": {
        const [from, nonce] = args;
        const logged = this.#allLogs().some(
          (log) => log.block <= block && log.topics[2] === nonce && log.topics[1] === word(from),
        );
        return encodeFunctionResult({ abi: ABI, functionName, result: logged || this.stateOnly.has(nonce) });
      }
      case "isValidSignature": {
        const accepted = this.wallets.get(to.toLowerCase());
        if (accepted === "reverts") throw Object.assign(new Error("execution reverted"), { code: 3 });
        return encodeFunctionResult({
          abi: ABI,
          functionName,
          result: args[1] === accepted ? "0x1626ba7e" : "0xffffffff",
        });
      }
    }
  }

  #logs({ topics, fromBlock, toBlock }: { topics: (Hex | Hex[])[]; fromBlock: Hex; toBlock: Hex }) {
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    if (to - from >= this.maxBlocks) throw Object.assign(new Error("block range is too large"), { code: -32602 });
    return this.#allLogs()
      .filter(({ block }) => from <= block && block <= to)
      .filter((log) => topics.every((topic, i) => topic.includes(log.topics[i] ?? "0x")))
      .map((log) => this.#logJson(log));
  }

  #receipt(transaction: Hex) {
    const receipt = this.receipts.get(transaction);
    const [first] = receipt?.logs ?? [];
    if (!receipt || !first) return null;
    return {
      transactionHash: transaction,
      status: numberToHex(receipt.status),
      blockHash: receipt.blockHash ?? this.hashOf(first.block),
      blockNumber: numberToHex(first.block),
      logs: receipt.logs.map((log) => this.#logJson(log)),
    };
  }

  #allLogs(): FakeLog[] {
    return [...this.receipts.values()].flatMap(({ logs }) => logs);
  }

  #logJson({ address, topics, data, block, index, transaction }: FakeLog) {
    return {
      address,
      topics,
      data,
      logIndex: numberToHex(index),
      blockNumber: numberToHex(block),
      blockHash: this.hashOf(block),
      transactionHash: transaction,
    };
  }
}
