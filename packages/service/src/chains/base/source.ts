import { BASE_MAINNET } from "@attestd/proof/base";
import { ServiceError } from "../../errors.ts";
import type { EthereumNodes, EthereumRpc, Receipt } from "../../providers/ethereum-rpc.ts";
import { unavailable } from "../../providers/provider.ts";
import { agree, type QuorumRules, reportConflict } from "../../providers/quorum.ts";
import { blockWork } from "../block-work.ts";
import type { ConfirmationLevel, SourceBlock, SourceChain, SourceTransaction, SourceTransactions } from "../chain.ts";
import type { ChainOptions } from "../kind.ts";
import { readSingly } from "../several.ts";
import { lowestLevel, readBaseBlock, readHeader, readLevels } from "./block.ts";
import * as baseWork from "./block-work.ts";
import { type BaseReading, fetchBytes, requireChain } from "./bytes.ts";

export type BaseSourceOptions = Pick<ChainOptions, "run"> & {
  nodes: EthereumNodes;
  /** CAIP-2 of further chains whose transactions the nodes may serve as this chain's: recordings in the sandbox. */
  accept?: readonly string[];
  /** The levels that transactions, and blocks, must have reached. */
  levels?: { confirmation: ConfirmationLevel; blockConfirmation: ConfirmationLevel } | undefined;
};

/** A transaction in a block of the canonical chain, the time of which is in a header that has its hash. */
type Sighting = { receipt: Receipt; time: number; level: ConfirmationLevel };
/** The latest block of a node that has no such transaction, and that block's time in Unix s. */
type Absence = { upTo: number; timestamp: number };

const DEFAULT_LEVELS = { confirmation: "safe", blockConfirmation: "finalized" } as const;
/** Seconds in which a block may reach a level. */
const WAIT_SECONDS: Record<ConfirmationLevel, number> = { included: 2, safe: 60, finalized: 300 };
const required = (level: ConfirmationLevel) => ({ level, retryAfter: WAIT_SECONDS[level] });

/** A node whose latest block is older than another's by more than this is not caught up. */
const MAX_LAG_SECONDS = 60;
/** Blocks by which nodes behind one balancer may be apart: 10 s of blocks of 200 ms. */
const MAX_LAG_BLOCKS = 50;

/**
 * Base as a source: a receipt, whose block must be the canonical one of its number, that block's header, which has its hash,
 * and bytes that hash to the id. The nodes agree on the block's hash, the outcome and the heads (k of n). A transaction that
 * reverted is confirmed like any other.
 */
export class BaseSource implements SourceChain {
  readonly name = "base";
  readonly required: SourceChain["required"];
  readonly #reading: BaseReading;

  constructor({ nodes, accept = [], levels = DEFAULT_LEVELS, run }: BaseSourceOptions) {
    this.required = { transaction: required(levels.confirmation), block: required(levels.blockConfirmation) };
    this.#reading = {
      nodes,
      caip2: BASE_MAINNET,
      accepted: new Set([BASE_MAINNET, ...accept]),
      work: blockWork(baseWork, run),
    };
  }

  async transaction(txnId: string, signal: AbortSignal): Promise<SourceTransaction> {
    const hash = txnId.toLowerCase();
    const { nodes, caip2, accepted } = this.#reading;
    const sighting = await locate(nodes, hash, signal);
    if (sighting === undefined) throw new ServiceError("source_not_found", `no Base transaction has the hash ${hash}`);
    const { receipt, level, time } = sighting;
    const bytes = await fetchBytes(nodes, receipt, signal);
    requireChain(hash, bytes, accepted);
    const block = { hash: receipt.blockHash, height: receipt.blockNumber, time };
    return { chain: "base", caip2, txnId: hash, bytes, level, block, succeeded: receipt.status === 1 };
  }

  async transactions(txnIds: readonly string[], signal: AbortSignal): Promise<SourceTransactions> {
    return readSingly(this, txnIds, signal);
  }

  async block(height: number, signal: AbortSignal): Promise<SourceBlock> {
    return readBaseBlock(height, this.#reading, signal);
  }
}

/** The receipt on which the nodes agree, and the lowest of the levels that they see. */
async function locate(
  { rpcs, rules }: EthereumNodes,
  hash: string,
  signal: AbortSignal,
): Promise<Sighting | undefined> {
  const ask = (rpc: EthereumRpc, ends: AbortSignal) => look(rpc, hash, rules, ends);
  const question = { about: `transaction ${hash}`, same: describe, behind: isBehind, signal };
  const answers = await agree(rpcs, ask, question, rules);
  const sightings = answers.filter((answer) => "receipt" in answer);
  const [first] = sightings;
  return first && { ...first, level: lowestLevel(sightings) };
}

async function look(
  rpc: EthereumRpc,
  hash: string,
  rules: QuorumRules,
  signal: AbortSignal,
): Promise<Sighting | Absence> {
  // Before the receipt: a receipt that is then missing is in no block up to this one.
  const latest = await rpc.latest(signal);
  const receipt = await rpc.receipt(hash, signal);
  if (receipt === undefined) return { upTo: latest.number, timestamp: latest.timestamp };

  const number = receipt.blockNumber;
  const levelOf = await readLevels(rpc, signal);
  // After the heads: what is canonical now was so when a head had passed it.
  const block = await rpc.header(number, signal);
  // Another node of the same balancer, which lags by some blocks of 200 ms.
  if (block === undefined)
    throw unavailable(`${rpc.name} has a receipt of block ${number} and does not know the block`);
  if (
    receipt.transactionHash !== hash ||
    block.hash !== receipt.blockHash ||
    block.transactions[receipt.transactionIndex] !== hash
  ) {
    const answers = [
      { provider: rpc.name, answer: `receipt of ${receipt.transactionHash} in block ${number} ${receipt.blockHash}` },
      { provider: rpc.name, answer: `block ${number} ${block.hash} without it there` },
    ];
    throw reportConflict({ about: `transaction ${hash}`, answers }, rules);
  }
  const { time } = readHeader(rpc, number, block);
  return { receipt, time, level: levelOf(number) };
}

function describe(answer: Sighting | Absence): string {
  if (!("receipt" in answer)) return "in no block";
  const { blockNumber, blockHash, status } = answer.receipt;
  return `in block ${blockNumber} ${blockHash}, ${status === 1 ? "succeeded" : "failed"}`;
}

function isBehind(answer: Sighting | Absence, others: readonly (Sighting | Absence)[]): boolean {
  if ("receipt" in answer) return false;
  return others.some((other) =>
    "receipt" in other
      ? other.receipt.blockNumber > answer.upTo - MAX_LAG_BLOCKS
      : other.timestamp - answer.timestamp > MAX_LAG_SECONDS,
  );
}
