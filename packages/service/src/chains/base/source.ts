import { BASE_MAINNET } from "@attestd/proof/base";
import { untilSettled } from "../../lib/clock.ts";
import { ServiceError } from "../../lib/errors.ts";
import type { EthereumNodes } from "../../providers/ethereum-rpc.ts";
import { agree, type QuorumRules } from "../../providers/quorum.ts";
import { blockWork } from "../block-work.ts";
import type {
  ConfirmationLevel,
  SourceBlock,
  SourceChain,
  SourceError,
  SourceTransaction,
  SourceTransactions,
} from "../chain.ts";
import type { ChainOptions } from "../chain-kind.ts";
import { forEach, Gathered } from "../several.ts";
import { agreeOnLevel, readBaseBlock } from "./block.ts";
import * as baseWork from "./block-work.ts";
import { type BaseReading, fetchBytes, foreignChain } from "./bytes.ts";
import { type Absence, describe, isBehind, type NodeView, type Observation, viewOf } from "./look.ts";

export type BaseSourceOptions = Pick<ChainOptions, "run"> & {
  nodes: EthereumNodes;
  /** CAIP-2 of other chains whose transactions the nodes may serve as this chain's: recordings in the sandbox. */
  accept?: readonly string[];
  /** The levels that transactions and blocks must have reached. */
  levels?: { transaction: ConfirmationLevel; block: ConfirmationLevel } | undefined;
};

const DEFAULT_LEVELS = { transaction: "safe", block: "finalized" } as const;
/** Seconds in which a block may reach each level. */
const WAIT_SECONDS: Record<ConfirmationLevel, number> = { included: 2, safe: 60, finalized: 300 };
const required = (level: ConfirmationLevel) => ({ level, retryAfter: WAIT_SECONDS[level] });

/** Transactions per batch request, and how many such batches may run at once. */
const MAX_TOGETHER = 100;
const MAX_AT_ONCE = 2;

/**
 * Base as a source. It reads a receipt, whose block must be the canonical one of its number, that block's header, which
 * has its hash, and bytes that hash to the id. The nodes agree on the block's hash, the outcome and the heads (k of n).
 * A transaction that reverted is confirmed like any other.
 */
export class BaseSource implements SourceChain {
  readonly required: SourceChain["required"];
  readonly #reading: BaseReading;

  constructor({ nodes, accept = [], levels = DEFAULT_LEVELS, run }: BaseSourceOptions) {
    this.required = { transaction: required(levels.transaction), block: required(levels.block) };
    this.#reading = {
      nodes,
      caip2: BASE_MAINNET,
      accepted: new Set([BASE_MAINNET, ...accept]),
      work: blockWork(baseWork, run),
    };
  }

  async transaction(txnId: string, signal: AbortSignal): Promise<SourceTransaction> {
    const transaction = (await this.transactions([txnId], signal)).get(txnId);
    if (transaction && "bytes" in transaction) return transaction;
    throw transaction;
  }

  async transactions(txnIds: readonly string[], signal: AbortSignal): Promise<SourceTransactions> {
    const gathered = new Gathered();
    const byHash = Map.groupBy(txnIds, (txnId) => txnId.toLowerCase());
    const hashes = new Set(byHash.keys());
    const { nodes } = this.#reading;
    const all = [...hashes];
    const parts = Array.from({ length: Math.ceil(all.length / MAX_TOGETHER) }, (_, n) => {
      return all.slice(n * MAX_TOGETHER, (n + 1) * MAX_TOGETHER);
    });
    // When it settles, requests to lagging nodes end.
    await untilSettled(signal, (ends) => {
      const views = nodes.rpcs.map((rpc) => viewOf(rpc, hashes, nodes.rules, ends));
      const readPart = async (part: readonly string[], until: AbortSignal) => {
        for (const [hash, found] of await this.#readPart(part, views, until))
          for (const txnId of new Set(byHash.get(hash))) gathered.add(txnId, found);
      };
      return forEach(parts, MAX_AT_ONCE, readPart, signal);
    });
    return gathered.all;
  }

  async #readPart(hashes: readonly string[], views: readonly NodeView[], signal: AbortSignal) {
    const { nodes, caip2, accepted } = this.#reading;
    const looks = new Map(views.map((view) => [view, view.look(hashes)]));
    const agreed = hashes.map(async (hash) => [hash, await agreeOn(hash, looks, nodes.rules, signal)] as const);
    const observations = new Map(await Promise.all(agreed));
    const receipts = [...observations.values()].flatMap((observation) => (observation ? [observation.receipt] : []));
    const bytesOf = await fetchBytes(nodes, receipts, signal);
    return [...observations].map(([hash, observation]): [string, SourceTransaction | SourceError] => {
      if (!observation) return [hash, new ServiceError("source_not_found", `no Base transaction has the hash ${hash}`)];
      const bytes = bytesOf.get(hash) as Uint8Array | SourceError;
      const fault = bytes instanceof Error ? bytes : foreignChain(hash, bytes, accepted);
      if (fault) return [hash, fault];
      const { receipt, level, time } = observation;
      const block = { hash: receipt.blockHash, height: receipt.blockNumber, time };
      const outcome = { level, block, succeeded: receipt.status === 1 };
      return [hash, { chain: "base", caip2, txnId: hash, bytes: bytes as Uint8Array, ...outcome }];
    });
  }

  async block(height: number, signal: AbortSignal): Promise<SourceBlock> {
    return readBaseBlock(height, this.#reading, signal);
  }
}

/**
 * Returns the receipt on which the nodes agree, and the highest level that as many of them see.
 * @returns undefined when they agree that there is no such transaction
 */
async function agreeOn(
  hash: string,
  looks: ReadonlyMap<NodeView, ReturnType<NodeView["look"]>>,
  rules: QuorumRules,
  signal: AbortSignal,
): Promise<Observation | undefined> {
  const ask = async (view: NodeView): Promise<Observation | Absence> => {
    const seen = (await looks.get(view))?.get(hash);
    if (seen && !(seen instanceof Error)) return seen;
    throw seen;
  };
  const question = { about: `transaction ${hash}`, same: describe, behind: isBehind, signal };
  const views = [...looks.keys()];
  const [first] = await agree(views, ask, question, rules);
  if (!("receipt" in first)) return undefined;
  const same = async (view: NodeView) => {
    const seen = await ask(view);
    return "receipt" in seen && describe(seen) === describe(first) ? seen : undefined;
  };
  return { ...first, level: await agreeOnLevel(views, same, question, rules) };
}
