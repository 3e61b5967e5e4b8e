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
import { FakeBase, RpcError } from "./base-providers.ts";
import { Upstream } from "./providers.ts";

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

type LogFilter = { topics: (Hex | Hex[])[]; fromBlock: Hex; toBlock: Hex };
type FakeLog = { address: string; topics: Hex[]; data: Hex; block: number; index: number; transaction: Hex };
type Receipt = { status: number; logs: FakeLog[]; blockHash?: Hex };

/** A Base node with USDC on its chain, behind real JSON-RPC on loopback. */
export class FakeBaseNode extends FakeBase {
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
  #upstream: Upstream | undefined;

  private constructor({ time, head, interval }: { time: number; head: number; interval: number }) {
    super();
    Object.assign(this, { interval, genesisTime: time - head * interval });
    Object.assign(this, { latest: head, safe: head - 50, finalized: head - 100 });
    Object.assign(this.methods, {
      eth_getCode: (address: string) => (this.wallets.has(address.toLowerCase()) ? "0x6001" : "0x"),
      eth_call: (call: { to: string; data: Hex }, block: string) => this.#call(call, this.numberOf(block)),
      eth_getLogs: (filter: LogFilter) => this.#logs(filter),
      eth_getTransactionReceipt: (transaction: Hex) => this.#receipt(transaction),
      eth_getTransactionByHash: (hash: Hex) => ({ hash, input: this.inputs.get(hash) ?? "0x" }),
    });
  }

  /** @param chain its head, made at `time` in Unix s, with `interval` seconds between blocks */
  static async start(chain: { time: number; head: number; interval: number }): Promise<FakeBaseNode> {
    const node = new FakeBaseNode(chain);
    node.#upstream = await Upstream.start(node.handler);
    return node;
  }

  get url(): string {
    return this.#upstream?.url ?? "";
  }

  /** Lets seconds pass; the safe and the finalized block follow at the same distance. */
  pass(seconds: number): void {
    const blocks = Math.floor(seconds / this.interval);
    this.latest += blocks;
    this.safe += blocks;
    this.finalized += blocks;
  }

  async close(): Promise<void> {
    await this.#upstream?.close();
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
        if (accepted === "reverts") throw new RpcError(3, "execution reverted");
        return encodeFunctionResult({
          abi: ABI,
          functionName,
          result: args[1] === accepted ? "0x1626ba7e" : "0xffffffff",
        });
      }
    }
  }

  #logs({ topics, fromBlock, toBlock }: LogFilter) {
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    if (to - from >= this.maxBlocks) throw new RpcError(-32602, "block range is too large");
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
