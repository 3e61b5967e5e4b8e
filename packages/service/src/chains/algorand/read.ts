import { isProofError } from "@attestd/proof";
import { algorandCaip2, decodeMsgpackMap, getBytes } from "@attestd/proof/algorand";
import { hasCode, ignoring, ServiceError } from "../../lib/errors.ts";
import type { Algod } from "../../providers/algod.ts";
import type { Location } from "../../providers/algorand-nodes.ts";
import type { Indexer } from "../../providers/indexer.ts";
import type { ProviderError } from "../../providers/provider.ts";
import { agree, hasLaggards, ifAny, type Question, reportConflict } from "../../providers/quorum.ts";
import { blockWork } from "../block-work.ts";
import type { BlockOfTransaction } from "../chain.ts";
import { type AlgorandReading, asAnswerOf, innerTransaction, requireUnkept } from "./block.ts";
import * as algorandWork from "./block-work.ts";
import { readBareHeader } from "./block-work.ts";
import { rebuildTransaction } from "./rebuild.ts";
import { rebuildHeader } from "./rebuild-header.ts";

/** A transaction in one node's block, after the look-up found its round. */
export type InBlock =
  | algorandWork.PlaceInRound
  /** Too few nodes keep the block to agree on it, or (`error`) too few could be asked. */
  | { kind: "unread"; error?: ProviderError };

/** A transaction of an accepted chain; the id of `bytes` is its id. `block`: absent if no node keeps it. */
export type ReadTransaction = { bytes: Uint8Array; caip2: string; block?: BlockOfTransaction };

/** The size up to which searching a block takes less time than sending it to another thread, in bytes. */
const MAX_BYTES_HERE = 32 * 1024;
/** Runs on the calling thread. */
const HERE = blockWork(algorandWork);

/**
 * Finds a transaction in its round's block, as the agreeing nodes have it, and others whose round is unknown. The
 * others are found only if a node's block leads to the header's root, so that the header's hash proves them. A block
 * that was already read is not asked for again.
 * @throws ProviderError providers_conflict
 */
export async function readBlockOf(
  { nodes, work, readBlock }: AlgorandReading,
  txnId: string,
  round: number,
  signal: AbortSignal,
  others: readonly string[] = [],
): Promise<InBlock> {
  const find = async (block: Uint8Array) =>
    (block.length > MAX_BYTES_HERE ? work : HERE).findInRound(block, round, txnId, others);
  const known = readBlock?.(round);
  // Whoever read it did not look at its certificate: where that is another block's, or the place another, the nodes are asked.
  const inKnown = known && (await find(known).catch(ignoring((error) => isProofError(error, "malformed"))));
  if (inKnown && inKnown.kind !== "missing") return inKnown;
  const ask = async (algod: Algod, ends: AbortSignal): Promise<InBlock> => {
    const block = await algod.block(round, ends);
    if (block === undefined) return { kind: "unread" };
    return asAnswerOf(algod, find(block));
  };
  const question: Question<InBlock> = {
    about: `the place of transaction ${txnId} in round ${round}`,
    same: (answer) => (answer.kind === "unread" ? "unread" : `${answer.kind} ${answer.block.hash}`),
    // A node that does not keep the block does not contradict one that does.
    behind: ({ kind }, all) => kind === "unread" && all.some((other) => other.kind !== "unread"),
    signal,
  };
  try {
    const agreeing = await agree(nodes.algods, ask, question, nodes.rules);
    return agreeing.find((answer) => answer.kind !== "unread" && (answer.others?.size ?? 0) > 0) ?? agreeing[0];
  } catch (error) {
    if (hasCode(error, "providers_unavailable"))
      return hasLaggards(error) ? { kind: "unread" } : { kind: "unread", error };
    throw error;
  }
}

/**
 * Reads the bytes of a located transaction from its round's block, or rebuilds them from the indexer's record.
 * @throws SourceError; ProviderError when the block contradicts the look-up, or could not be asked for
 */
export async function readTransaction(
  reading: AlgorandReading,
  txnId: string,
  location: Location,
  inBlock: InBlock,
  signal: AbortSignal,
): Promise<ReadTransaction> {
  const about = `transaction ${txnId}`;
  switch (inBlock.kind) {
    case "transaction":
      return accepted(reading, txnId, inBlock.bytes, inBlock);
    case "inner":
      throw innerTransaction(txnId, inBlock.rootId);
    case "missing": {
      const answers = [
        { provider: "the look-up", answer: `in round ${location.round}` },
        { provider: "algod", answer: "not in that round's block" },
      ];
      throw reportConflict({ about, answers }, reading.nodes.rules);
    }
    case "unread": {
      const rebuilt = location.record && rebuildTransaction(txnId, location.record);
      if (rebuilt) return accepted(reading, txnId, rebuilt);
      if (inBlock.error) throw inBlock.error;
      await requireUnkept(reading.nodes, location.round, signal);
      const message = `${about} is in round ${location.round}, but too few nodes keep its block to agree on it, and the indexer's JSON does not lead to its id`;
      throw new ServiceError("source_not_kept", message);
    }
  }
}

/** @throws source_wrong_chain */
function accepted(
  { caip2: configured, accepted: chains }: AlgorandReading,
  txnId: string,
  bytes: Uint8Array,
  { block, caip2: ofBlock = configured }: { block?: BlockOfTransaction; caip2?: string } = {},
): ReadTransaction {
  const genesisHash = getBytes(decodeMsgpackMap(bytes), "gh", 32);
  const caip2 = genesisHash ? algorandCaip2(genesisHash) : configured;
  const foreign = [caip2, ofBlock].find((network) => !chains.has(network));
  if (foreign !== undefined)
    throw new ServiceError("source_wrong_chain", `transaction ${txnId} belongs to ${foreign}, not ${configured}`);
  return { bytes, caip2, ...(block && { block }) };
}

/**
 * Rebuilds the block of a round that too few algods keep, from the header in the agreeing indexers' JSON.
 * @throws source_not_kept; ProviderError
 */
export async function rebuildBlock(
  { nodes }: AlgorandReading,
  round: number,
  signal: AbortSignal,
): Promise<BlockOfTransaction> {
  await requireUnkept(nodes, round, signal);
  const ask = async (indexer: Indexer, ends: AbortSignal): Promise<BlockOfTransaction | undefined> => {
    const [json, next] = await Promise.all([indexer.header(round, ends), indexer.header(round + 1, ends)]);
    const header = json && next && rebuildHeader(json, next);
    if (header === undefined) return undefined;
    const { blockHash: hash, time } = readBareHeader(header, round);
    return { hash, height: round, time };
  };
  const question = ifAny(`the header of round ${round}`, ({ hash }: BlockOfTransaction) => hash, signal);
  const [block] = await agree(nodes.indexers, ask, question, nodes.rules);
  if (block) return block;
  const message = `too few nodes keep the block of round ${round} to agree on it, and the indexers' JSON does not lead to its hash`;
  throw new ServiceError("source_not_kept", message);
}
