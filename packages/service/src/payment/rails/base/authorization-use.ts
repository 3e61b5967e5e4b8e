import { LRUCache } from "lru-cache";
import { numberToHex } from "viem/utils";
import { z } from "zod";
import { ignoring } from "../../../lib/errors.ts";
import type { EthereumRpc } from "../../../providers/ethereum-rpc.ts";
import { refusalOf } from "../../../providers/json-rpc.ts";
import { isProviderError, unavailable } from "../../../providers/provider.ts";
import { isLag, lagging } from "./lag.ts";
import { logPieces } from "./log-pieces.ts";
import { isOf, readUse, type Use } from "./logged-use.ts";
import {
  type AuthorizationId,
  addressTopic,
  CANCELLED,
  isAuthorizationUsed,
  Log,
  readBlock,
  USED,
} from "./usdc-contract.ts";

/** Unix seconds, both exclusive. */
export type TimeWindow = { after: number; before: bigint };

/**
 * The number of blocks over which the rate of blocks is measured, because block times are whole seconds: five and a
 * half hours of blocks of 200 ms.
 */
const PACE_SPAN = 100_000;
/** How many blocks an estimate of a time's block may be off: 200 s of blocks of 200 ms. */
const ESTIMATE_SPAN = 1_000;
/**
 * The number of pieces in which one look searches the logs of a node that has pruned their state. The next look
 * continues where it ended.
 */
const MAX_PIECES = 25;
/** The limit of unfinished searches, some 100 bytes each. */
const MAX_SEARCHES = 1_000;

/**
 * Makes the search for uses of authorizations on one node. @param logSpan blocks in one query for logs. @param now ms
 */
export function useSearch(rpc: EthereumRpc, logSpan: number, now: () => number) {
  const pieces = logPieces(rpc, logSpan, now);
  /** By payer and nonce, the last block that a search through the logs has not reached. */
  const left = new LRUCache<string, number>({ max: MAX_SEARCHES });

  return { useIn, findUse };

  /**
   * Reads the use from a transaction that may contain it.
   * @param transaction unchecked. @returns undefined when the node does not show a use there
   */
  async function useIn(id: AuthorizationId, transaction: string, signal: AbortSignal): Promise<Use | undefined> {
    return readUse(rpc, id, transaction, signal).catch(ignoring(isProviderError));
  }

  /**
   * Finds how an authorization was used or cancelled, which the token's state at `head` must show. It looks first in
   * the window of time in which it must have been used if its payment was admitted, then in all blocks, with one query
   * that some hosts refuse.
   *
   * A window of an hour has 18,000 blocks, and some hosts answer for ten at a time. So logs are searched only in the
   * newest blocks, where a recent payment is. An older block is found by bisecting the token's state: a used
   * authorization is used in every later block.
   * @param head the last block to look in
   * @returns undefined when the node has no log of it
   * @throws ProviderError, for which `isLag` is true if a node behind the balancer has not reached the block
   */
  async function findUse(
    id: AuthorizationId,
    { after, before }: TimeWindow,
    head: number,
    signal: AbortSignal,
  ): Promise<Use | undefined> {
    const filter = { address: id.token, topics: [[USED, CANCELLED], addressTopic(id.from), id.nonce] };
    const isUsed = (block: number) => isAuthorizationUsed(rpc, id, block, signal);
    const log = (await searchNewest()) ?? (await searchAll());
    if (!log) return undefined;
    const use = await readUse(rpc, id, log.transactionHash, signal);
    if (use.blockHash === log.blockHash) return use;
    throw lagging(
      `${rpc.name} does not show transaction ${use.transaction} where its log is, in block ${log.blockHash}`,
    );

    async function searchNewest(): Promise<Log | undefined> {
      const { from, logs } = await pieces.last(filter, { from: 0, to: head }, signal);
      const found = logs.find((log) => isOf(log, id));
      if (found || from === 0) return found;
      const { answer: isOlder, refused } = await unlessRefused(isUsed(from - 1));
      if (refused) return searchLogs();
      if (!isOlder) throw lagging(`${rpc.name} shows a use of ${id.nonce} since block ${from} and has no log of it`);
      return searchWindow(from - 1);
    }

    /** @param late a block in which it is used */
    async function searchWindow(late: number): Promise<Log | undefined> {
      const { answer: block, refused } = await unlessRefused(blockOfUse(late));
      // A node that has pruned the state of that time may still have its logs.
      if (refused) return searchLogs();
      if (block === undefined) return undefined;
      const { timestamp } = await readBlock(rpc, block, signal);
      if (timestamp <= after || timestamp >= before) return undefined;
      const { logs } = await pieces.last(filter, { from: block, to: block }, signal);
      return logs.find((log) => isOf(log, id));
    }

    /**
     * Returns the block in which the token first shows the authorization as used, which may be outside the window;
     * undefined when it is used in all of them.
     */
    async function blockOfUse(newest: number): Promise<number | undefined> {
      const isUnused = async (block: number) => !(await isUsed(block));
      const blockAt = await clockOfBlocks();
      const end = Math.min(newest, blockAt(Number(before)) + ESTIMATE_SPAN);
      const late = end < newest && (await isUsed(end)) ? end : newest;
      const step = Math.max(1, late - blockAt(after) + ESTIMATE_SPAN);
      const [unused, used] = await gallop(late, { step, within: 1 }, isUnused);
      return used === 0 || (unused === 0 && (await isUsed(0))) ? undefined : used;
    }

    /** Estimates the block at a time from the rate of the latest blocks. A bad estimate only costs further queries. */
    async function clockOfBlocks(): Promise<(time: number) => number> {
      const earlier = Math.max(0, head - PACE_SPAN);
      const [first, last] = await Promise.all([rpc.block(earlier, signal), readBlock(rpc, head, signal)]);
      const pace =
        first && last.timestamp > first.timestamp ? (head - earlier) / (last.timestamp - first.timestamp) : 1;
      return (time) => Math.min(head, Math.max(0, Math.floor(head - (last.timestamp - time) * pace)));
    }

    /** Searches the logs of the window from its end. */
    async function searchLogs(): Promise<Log | undefined> {
      const search = `${id.from}/${id.nonce}`;
      let to = left.get(search) ?? (await blockAfter());
      for (let i = 0; i < MAX_PIECES; i++) {
        const { from, logs } = await pieces.last(filter, { from: 0, to }, signal);
        const found = logs.find((log) => isOf(log, id));
        const ends = found !== undefined || from === 0 || (await isBefore(from, after));
        if (ends) left.delete(search);
        if (ends) return found;
        to = from - 1;
        left.set(search, to);
      }
      throw unavailable(`${rpc.name} has more blocks in which ${id.nonce} may be used than are searched at once`);
    }

    /**
     * Returns a block after the window, or the head. It uses only timestamps, because the rate of blocks changes: Base
     * had one every 2 s, and now has one every 200 ms.
     */
    async function blockAfter(): Promise<number> {
      const isEarly = (number: number) => isBefore(number, Number(before) - 1);
      const [, late] = await gallop(head, { step: ESTIMATE_SPAN, within: ESTIMATE_SPAN }, isEarly);
      return late;
    }

    /**
     * Whether a block is before a time. If a node's history begins later, the blocks before its first one count as
     * early.
     */
    async function isBefore(number: number, time: number): Promise<boolean> {
      const block = await rpc.block(number, signal);
      return block === undefined || block.timestamp <= time;
    }

    async function searchAll(): Promise<Log | undefined> {
      const query = { ...filter, fromBlock: numberToHex(0), toBlock: numberToHex(head) };
      const logs = await rpc.call("eth_getLogs", [query], z.array(Log), signal);
      return logs.find((log) => isOf(log, id));
    }
  }
}

export type UseSearch = ReturnType<typeof useSearch>;

/**
 * Catches a node's refusal, which says nothing about other queries. @throws ProviderError when the node gives no
 * answer, or lags
 */
async function unlessRefused<T>(asked: Promise<T>): Promise<{ answer?: T; refused: boolean }> {
  try {
    return { answer: await asked, refused: false };
  } catch (error) {
    if (refusalOf(error) && !isLag(error)) return { refused: true };
    throw error;
  }
}

/**
 * Goes back from the head in doubling steps, then bisects, so that newer blocks are found sooner.
 * @param step the first step back, in blocks
 * @param within the greatest distance between the two blocks
 * @returns a block that is early, or block 0, and a later one that is not, or the head
 */
async function gallop(
  head: number,
  { step: first, within }: { step: number; within: number },
  isEarly: (block: number) => Promise<boolean>,
): Promise<[early: number, late: number]> {
  let late = head;
  let early = head;
  for (let step = first; early > 0; step *= 2) {
    early = Math.max(0, early - step);
    if (await isEarly(early)) break;
    late = early;
  }
  while (late - early > within) {
    const middle = Math.floor((early + late) / 2);
    if (await isEarly(middle)) early = middle;
    else late = middle;
  }
  return [early, late];
}
