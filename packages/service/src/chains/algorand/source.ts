import { algorandCaip2, decodeMsgpackMap, getBytes } from "@attestd/proof/algorand";
import { hasCode, ServiceError } from "../../errors.ts";
import type { Algod } from "../../providers/algod.ts";
import { type AlgorandNodes, type Location, locate } from "../../providers/algorand-nodes.ts";
import type { Indexer } from "../../providers/indexer.ts";
import type { ProviderError } from "../../providers/provider.ts";
import { agree, type Question, reportConflict } from "../../providers/quorum.ts";
import { blockWork } from "../block-work.ts";
import type { BlockOfTransaction, SourceBlock, SourceChain, SourceTransaction, SourceTransactions } from "../chain.ts";
import type { ChainOptions } from "../kind.ts";
import { readSingly } from "../several.ts";
import { type AlgorandReading, asAnswerOf, innerTransaction, readAlgorandBlock, requireUnkept } from "./block.ts";
import * as algorandWork from "./block-work.ts";
import { readBareHeader } from "./block-work.ts";
import { rebuildTransaction } from "./rebuild.ts";
import { rebuildHeader } from "./rebuild-header.ts";

/** What a node's block shows of a transaction that the look-up found in it. */
type InBlock =
  | algorandWork.PlaceInRound
  /** The nodes that answered do not keep the block, or (`error`) too few could be asked. */
  | { kind: "unread"; error?: ProviderError };

/** A transaction of the ledger, bound to its id. */
export type LedgerTransaction = {
  txnId: string;
  bytes: Uint8Array;
  height: number;
  /** The time in its block's header, Unix s. Absent where no node keeps the block. */
  time?: number;
};

/** A block of at most so many bytes is searched in less time than it takes to send it to another thread. */
const SMALL_BLOCK = 32 * 1024;
/** On the calling thread. */
const HERE = blockWork(algorandWork);
/** A block is final at once. */
const FINALIZED = { level: "finalized", retryAfter: 0 } as const;

export type AlgorandSourceOptions = ChainOptions & {
  nodes: AlgorandNodes;
  /** CAIP-2 of the configured chain, to which a transaction without a genesis hash belongs. */
  caip2: string;
  /** CAIP-2 of further chains whose transactions the nodes may serve: recordings in the sandbox. */
  accept?: readonly string[];
};

/**
 * Algorand as a source. A transaction is located by algod and indexer, and read from its block, or rebuilt from the
 * indexer's JSON where no algod keeps that block. The nodes agree on the round and on the hash of its header (k of n); the
 * id proves the bytes.
 */
export class AlgorandSource implements SourceChain {
  readonly name = "algorand";
  readonly required = { transaction: FINALIZED, block: FINALIZED };
  readonly #reading: AlgorandReading;
  readonly #locate: (txnId: string, signal: AbortSignal) => Promise<Location | undefined>;

  constructor({ nodes, caip2, accept = [], run, ...options }: AlgorandSourceOptions) {
    this.#reading = { nodes, caip2, accepted: new Set([caip2, ...accept]), work: blockWork(algorandWork, run) };
    this.#locate = options.locate ?? ((txnId, signal) => locate(nodes, txnId, signal));
  }

  async transaction(txnId: string, signal: AbortSignal): Promise<SourceTransaction> {
    const { round, bytes, caip2, block } = await this.#find(txnId, signal);
    const whole = block ?? (await this.#rebuildBlock(round, signal));
    return { chain: "algorand", caip2, txnId, bytes, level: "finalized", block: whole };
  }

  /** The block of a round that no algod keeps, by the header to which the JSON of the agreeing indexers leads. */
  async #rebuildBlock(round: number, signal: AbortSignal): Promise<BlockOfTransaction> {
    const { nodes } = this.#reading;
    await requireUnkept(nodes, round, signal);
    const ask = async (indexer: Indexer, ends: AbortSignal): Promise<BlockOfTransaction | undefined> => {
      const [json, next] = await Promise.all([indexer.header(round, ends), indexer.header(round + 1, ends)]);
      const header = json && next && rebuildHeader(json, next);
      if (header === undefined) return undefined;
      const { blockHash: hash, time } = readBareHeader(header, round);
      return { hash, height: round, time };
    };
    const question: Question<BlockOfTransaction | undefined> = {
      about: `the header of round ${round}`,
      same: (block) => block?.hash ?? "none",
      behind: (block, others) => block === undefined && others.some((other) => other !== undefined),
      signal,
    };
    const [block] = await agree(nodes.indexers, ask, question, nodes.rules);
    if (block) return block;
    const message = `no node keeps the block of round ${round} any more, and the indexer's JSON does not lead to its hash`;
    throw new ServiceError("source_not_kept", message);
  }

  /**
   * Finds a transaction as `transaction` does, also one whose block no node keeps any more.
   *
   * @throws as `transaction` does
   */
  async find(txnId: string, signal: AbortSignal): Promise<LedgerTransaction> {
    const { round: height, bytes, block } = await this.#find(txnId, signal);
    return { txnId, bytes, height, ...(block && block.time > 0 && { time: block.time }) };
  }

  async #find(txnId: string, signal: AbortSignal) {
    const { caip2: configured, accepted } = this.#reading;
    const location = await this.#locate(txnId, signal);
    if (location === undefined)
      throw new ServiceError("source_not_found", `no Algorand transaction has the id ${txnId}`);
    const { bytes, block, caip2: ofBlock = configured } = await this.#read(txnId, location, signal);
    const genesisHash = getBytes(decodeMsgpackMap(bytes), "gh", 32);
    const caip2 = genesisHash ? algorandCaip2(genesisHash) : configured;
    const foreign = [caip2, ofBlock].find((network) => !accepted.has(network));
    if (foreign !== undefined)
      throw new ServiceError("source_wrong_chain", `transaction ${txnId} belongs to ${foreign}, not ${configured}`);
    return { round: location.round, bytes, caip2, block };
  }

  async transactions(txnIds: readonly string[], signal: AbortSignal): Promise<SourceTransactions> {
    return readSingly(this, txnIds, signal);
  }

  async block(height: number, signal: AbortSignal): Promise<SourceBlock> {
    return readAlgorandBlock(height, this.#reading, signal);
  }

  async #read(
    txnId: string,
    location: Location,
    signal: AbortSignal,
  ): Promise<{ bytes: Uint8Array; block?: BlockOfTransaction; caip2?: string }> {
    const about = `transaction ${txnId}`;
    const inBlock = await this.#readBlock(txnId, location.round, signal);
    switch (inBlock.kind) {
      case "transaction":
        return inBlock;
      case "inner":
        throw innerTransaction(txnId, inBlock.rootId);
      case "missing": {
        const answers = [
          { provider: "the look-up", answer: `in round ${location.round}` },
          { provider: "algod", answer: "not in that round's block" },
        ];
        throw reportConflict({ about, answers }, this.#reading.nodes.rules);
      }
      case "unread": {
        const rebuilt = location.record && rebuildTransaction(txnId, location.record);
        if (rebuilt) return { bytes: rebuilt };
        if (inBlock.error) throw inBlock.error;
        await requireUnkept(this.#reading.nodes, location.round, signal);
        const message = `${about} is in round ${location.round}, but no node keeps its block any more, and the indexer's JSON does not lead to its id`;
        throw new ServiceError("source_not_kept", message);
      }
    }
  }

  /** What the blocks of the agreeing nodes show. */
  async #readBlock(txnId: string, round: number, signal: AbortSignal): Promise<InBlock> {
    const { nodes, work } = this.#reading;
    const ask = async (algod: Algod, ends: AbortSignal): Promise<InBlock> => {
      const block = await algod.block(round, ends);
      if (block === undefined) return { kind: "unread" };
      const { findInRound } = block.length > SMALL_BLOCK ? work : HERE;
      return asAnswerOf(algod, findInRound(block, round, txnId));
    };
    const question: Question<InBlock> = {
      about: `the place of transaction ${txnId} in round ${round}`,
      same: (answer) => (answer.kind === "unread" ? "unread" : `${answer.kind} ${answer.block.hash}`),
      // A node that does not keep the block contradicts none that does.
      behind: ({ kind }, others) => kind === "unread" && others.some((other) => other.kind !== "unread"),
      signal,
    };
    try {
      const [inBlock] = await agree(nodes.algods, ask, question, nodes.rules);
      return inBlock;
    } catch (error) {
      if (hasCode(error, "providers_unavailable")) return { kind: "unread", error };
      throw error;
    }
  }
}
