import { type Hex, keccak256, toRlp } from "viem";
import { EthereumRpc } from "../../src/providers/ethereum-rpc.ts";
import { type Handler, json, Upstream } from "./providers.ts";

/** `status`: in its receipt; 1 unless given. */
export type FakeTransaction = { hash: string; raw?: string; json?: Record<string, unknown>; status?: 0 | 1 };

const hex = (value: number) => `0x${value.toString(16)}`;
const bytes = (length: number) => `0x${"00".repeat(length)}` as const;

/** Members of a header as JSON-RPC has them, with its hash: of the 15 fields of every Ethereum block. */
function headerOf(number: number, timestamp: number, fork: number): Record<string, string> {
  const zeros = {
    ...{ parentHash: bytes(32), sha3Uncles: bytes(32), miner: bytes(20), stateRoot: bytes(32) },
    ...{ transactionsRoot: bytes(32), receiptsRoot: bytes(32), logsBloom: bytes(256) },
  };
  const quantities = { difficulty: fork, number, gasLimit: 0, gasUsed: 0, timestamp };
  const rest = { extraData: "0x", mixHash: bytes(32), nonce: bytes(8) } as const;
  const evenly = Object.values(quantities).map((value) => {
    const digits = value.toString(16);
    return value === 0 ? "0x" : (`0x${digits.length % 2 === 0 ? "" : "0"}${digits}` as Hex);
  });
  const rlp = toRlp([...Object.values(zeros), ...evenly, ...Object.values(rest)] as Hex[]);
  const json = Object.fromEntries(Object.entries(quantities).map(([name, value]) => [name, hex(value)]));
  return { ...zeros, ...json, ...rest, hash: keccak256(rlp) };
}

/** An error that a node answers with. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type BatchAnswer = { jsonrpc: "2.0"; id: unknown; result?: unknown; error?: object };
/** go-ethereum's answer to a batch that is too large (`rpc/errors.go`). */
const TOO_LARGE = { code: -32600, message: "batch too large" };

/** A hand-made JSON-RPC node. A test may replace or remove any method. */
export class FakeBase {
  chainId = 8453;
  latest = 100;
  safe = 90;
  finalized = 80;
  /** Unix s of block 0. */
  genesisTime = 1_700_000_000;
  /** Seconds between blocks. */
  interval = 1;
  /** Blocks of another fork have other hashes. */
  fork = 0;
  /** Calls that it takes in one batch; 1: none. */
  maxBatch = Number.POSITIVE_INFINITY;
  /** What it answers in place of the answers to a batch. */
  onBatch: (answers: BatchAnswer[]) => unknown = (answers) => answers;
  /** Changes the answer to a method. */
  distort: (method: string, answer: unknown, params: unknown[]) => unknown = (_, answer) => answer;
  readonly #blocks = new Map<number, FakeTransaction[]>();
  /** The methods that were called, in order. */
  readonly calls: string[] = [];

  /** Puts transactions into a block. */
  include(number: number, ...transactions: FakeTransaction[]): this {
    this.#blocks.set(number, transactions);
    return this;
  }

  /** Results by method; undefined: the node lacks the method. A method that throws is answered with an error. */
  // biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own.
  readonly methods: Record<string, ((...params: any[]) => unknown) | undefined> = {
    eth_chainId: () => hex(this.chainId),
    eth_getBlockByNumber: (tag) => this.#block(tag ?? ""),
    eth_getTransactionReceipt: (hash) => this.#receipt(hash),
    eth_getTransactionByHash: (hash) => this.#find(hash)?.transaction.json ?? null,
    eth_getRawTransactionByHash: (hash) => this.#find(hash)?.transaction.raw ?? null,
    eth_getRawTransactionByBlockHashAndIndex: undefined,
    debug_getRawTransaction: undefined,
  };

  readonly handler: Handler = (request, response) => {
    const calls = JSON.parse(request.body.toString());
    if (!Array.isArray(calls)) return json(response, this.#answer(calls));
    if (calls.length > this.maxBatch) return json(response, { jsonrpc: "2.0", id: null, error: TOO_LARGE }, 400);
    json(response, this.onBatch(calls.map((call) => this.#answer(call))));
  };

  #answer({ id, method, params }: { id: unknown; method: string; params: unknown[] }): BatchAnswer {
    this.calls.push(method);
    const answer = this.methods[method];
    try {
      if (answer === undefined) throw new RpcError(-32601, `the method ${method} does not exist`);
      return { jsonrpc: "2.0", id, result: this.distort(method, answer(...params), params) };
    } catch (error) {
      const { code = -32603, message } = error as { code?: number; message: string };
      return { jsonrpc: "2.0", id, error: { code, message } };
    }
  }

  /** The number of a block that a tag or a quantity names. */
  numberOf(tag: string): number {
    const heads: Record<string, number> = { latest: this.latest, safe: this.safe, finalized: this.finalized };
    return heads[tag] ?? Number(tag);
  }

  #block(tag: string): object | null {
    const number = this.numberOf(tag);
    if (number > this.latest) return null;
    const transactions = (this.#blocks.get(number) ?? []).map(({ hash }) => hash);
    return { ...this.header(number), transactions };
  }

  /** The header of a block, whether or not it is there already. */
  header(number: number): Record<string, string> {
    return headerOf(number, this.timeOf(number), this.fork);
  }

  /** Unix s. */
  timeOf(number: number): number {
    return Math.floor(this.genesisTime + number * this.interval);
  }

  hashOf(number: number): Hex {
    return this.header(number).hash as Hex;
  }

  #receipt(hash: string | undefined): object | null {
    const found = this.#find(hash);
    if (found === undefined) return null;
    const { number, index, transaction } = found;
    return {
      transactionHash: hash,
      blockHash: this.hashOf(number),
      blockNumber: hex(number),
      transactionIndex: hex(index),
      status: hex(transaction.status ?? 1),
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
