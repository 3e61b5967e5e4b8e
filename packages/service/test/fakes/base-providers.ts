import { EthereumRpc } from "../../src/providers/ethereum-rpc.ts";
import { type Handler, json, Upstream } from "./providers.ts";

export type FakeTransaction = { hash: string; raw?: string; json?: Record<string, unknown> };

const hex = (value: number) => `0x${value.toString(16)}`;
const hashOf = (number: number, fork = 0) => `0x${(number * 16 + fork).toString(16).padStart(64, "0")}`;

/** A hand-made JSON-RPC node. A test may replace or remove any method. */
export class FakeBase {
  chainId = 8453;
  latest = 100;
  safe = 90;
  finalized = 80;
  /** Unix s of block 0; a block a second. */
  genesisTime = 1_700_000_000;
  /** Blocks of another fork have other hashes. */
  fork = 0;
  readonly #blocks = new Map<number, FakeTransaction[]>();
  readonly calls: string[] = [];

  /** Puts transactions into a block. */
  include(number: number, ...transactions: FakeTransaction[]): this {
    this.#blocks.set(number, transactions);
    return this;
  }

  /** Results by method; undefined: the node lacks the method. */
  readonly methods: Record<string, ((...params: string[]) => unknown) | undefined> = {
    eth_chainId: () => hex(this.chainId),
    eth_getBlockByNumber: (tag) => this.#block(tag ?? ""),
    eth_getTransactionReceipt: (hash) => this.#receipt(hash),
    eth_getTransactionByHash: (hash) => this.#find(hash)?.transaction.json ?? null,
    eth_getRawTransactionByHash: (hash) => this.#find(hash)?.transaction.raw ?? null,
    eth_getRawTransactionByBlockHashAndIndex: undefined,
    debug_getRawTransaction: undefined,
  };

  readonly handler: Handler = (request, response) => {
    const { id, method, params } = JSON.parse(request.body.toString());
    this.calls.push(method);
    const answer = this.methods[method];
    const error = { code: -32601, message: `the method ${method} does not exist` };
    json(response, { jsonrpc: "2.0", id, ...(answer ? { result: answer(...params) } : { error }) });
  };

  #block(tag: string): object | null {
    const heads: Record<string, number> = { latest: this.latest, safe: this.safe, finalized: this.finalized };
    const number = heads[tag] ?? Number(tag);
    if (number > this.latest) return null;
    const transactions = (this.#blocks.get(number) ?? []).map(({ hash }) => hash);
    const timestamp = hex(this.genesisTime + number);
    return { number: hex(number), hash: hashOf(number, this.fork), timestamp, transactions };
  }

  #receipt(hash: string | undefined): object | null {
    const found = this.#find(hash);
    if (found === undefined) return null;
    const { number, index } = found;
    return {
      transactionHash: hash,
      blockHash: hashOf(number, this.fork),
      blockNumber: hex(number),
      transactionIndex: hex(index),
      status: "0x0",
    };
  }

  #find(hash: string | undefined) {
    for (const [number, transactions] of this.#blocks) {
      const index = transactions.findIndex((transaction) => transaction.hash === hash);
      const transaction = transactions[index];
      if (transaction && number <= this.latest) return { number, index, transaction };
    }
    return undefined;
  }
}

/** Starts the nodes behind real HTTP. */
export async function startRpcs(...fakes: FakeBase[]): Promise<{ rpcs: EthereumRpc[]; upstreams: Upstream[] }> {
  const upstreams = await Promise.all(fakes.map(({ handler }) => Upstream.start(handler)));
  return { upstreams, rpcs: upstreams.map(({ url }) => new EthereumRpc({ url }, 8453)) };
}
