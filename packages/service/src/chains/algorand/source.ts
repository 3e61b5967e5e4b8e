import { ServiceError } from "../../lib/errors.ts";
import { type AlgorandNodes, type Location, locate } from "../../providers/algorand-nodes.ts";
import { blockWork } from "../block-work.ts";
import type { SourceBlock, SourceChain, SourceTransaction, SourceTransactions } from "../chain.ts";
import type { ChainOptions } from "../chain-kind.ts";
import { type AlgorandReading, readAlgorandBlock } from "./block.ts";
import * as algorandWork from "./block-work.ts";
import { type ReadTransaction, readBlockOf, readTransaction, rebuildBlock } from "./read.ts";
import { readSeveral } from "./several.ts";

/** A transaction of the ledger, bound to its id. */
export type LedgerTransaction = {
  txnId: string;
  bytes: Uint8Array;
  height: number;
  /** The time in its block's header, Unix s; absent if no node keeps the block. */
  time?: number;
};

/** A block is final at once. */
const FINALIZED = { level: "finalized", retryAfter: 0 } as const;

export type AlgorandSourceOptions = ChainOptions & {
  nodes: AlgorandNodes;
  /** CAIP-2 of the configured chain, to which a transaction without a genesis hash belongs. */
  caip2: string;
  /** CAIP-2 of other chains whose transactions the nodes may serve: recordings in the sandbox. */
  accept?: readonly string[];
};

/**
 * Algorand as a source. algod and indexer locate a transaction. It is read from its block, or rebuilt from the
 * indexer's JSON if no algod keeps that block. The nodes agree on the round and on its header's hash (k of n); the id
 * proves the bytes.
 */
export class AlgorandSource implements SourceChain {
  readonly required = { transaction: FINALIZED, block: FINALIZED };
  readonly #reading: AlgorandReading;
  readonly #locate: (txnId: string, signal: AbortSignal) => Promise<Location | undefined>;

  constructor({ nodes, caip2, accept = [], run, readBlock, ...options }: AlgorandSourceOptions) {
    this.#reading = {
      nodes,
      caip2,
      accepted: new Set([caip2, ...accept]),
      work: blockWork(algorandWork, run),
      readBlock,
    };
    this.#locate = options.locate ?? ((txnId, signal) => locate(nodes, txnId, signal));
  }

  async transaction(txnId: string, signal: AbortSignal): Promise<SourceTransaction> {
    const { round, bytes, caip2, block } = await this.#find(txnId, signal);
    const whole = block ?? (await rebuildBlock(this.#reading, round, signal));
    return { chain: "algorand", caip2, txnId, bytes, level: "finalized", block: whole };
  }

  async transactions(txnIds: readonly string[], signal: AbortSignal): Promise<SourceTransactions> {
    return readSeveral(this.#reading, txnIds, (txnId, ends) => this.#locateThere(txnId, ends), signal);
  }

  /**
   * Finds a transaction like `transaction`, including one whose block no node keeps any more.
   * @throws as `transaction` does
   */
  async find(txnId: string, signal: AbortSignal): Promise<LedgerTransaction> {
    const { round: height, bytes, block } = await this.#find(txnId, signal);
    return { txnId, bytes, height, ...(block && block.time > 0 && { time: block.time }) };
  }

  async block(height: number, signal: AbortSignal): Promise<SourceBlock> {
    return readAlgorandBlock(height, this.#reading, signal);
  }

  async #find(txnId: string, signal: AbortSignal): Promise<ReadTransaction & { round: number }> {
    const location = await this.#locateThere(txnId, signal);
    const inBlock = await readBlockOf(this.#reading, txnId, location.round, signal);
    const read = await readTransaction(this.#reading, txnId, location, inBlock, signal);
    return { round: location.round, ...read };
  }

  async #locateThere(txnId: string, signal: AbortSignal): Promise<Location> {
    const location = await this.#locate(txnId, signal);
    if (location) return location;
    throw new ServiceError("source_not_found", `no Algorand transaction has the id ${txnId}`);
  }
}
