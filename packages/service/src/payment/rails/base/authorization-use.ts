import type { Hex } from "viem";
import { getAddress, numberToHex, slice } from "viem/utils";
import { z } from "zod";
import { type EthereumRpc, rpcBytes, rpcInteger } from "../../../providers/ethereum-rpc.ts";
import { refusalOf } from "../../../providers/json-rpc.ts";
import { unavailable } from "../../../providers/provider.ts";
import {
  type AuthorizationId,
  addressTopic,
  CANCELLED,
  isAuthorizationUsed,
  Log,
  readBlock,
  TRANSFER,
  USED,
} from "./usdc-contract.ts";

/** Seconds of Unix time, both exclusive. */
export type TimeWindow = { after: number; before: bigint };

/** How an authorization was spent, by the logs of its token. */
export type Use = { transaction: string; block: number; blockHash: string } & (
  | { kind: "used"; to: Hex; value: bigint }
  | { kind: "cancelled" }
);

/** Blocks in one query for logs, which most hosts accept. The others are asked about single blocks. */
const SPAN = 1_000;
/** Blocks over which the rate of blocks is measured, because their times are whole seconds. */
const PACE_SPAN = 100_000;

const Receipt = z.object({ status: rpcInteger, transactionHash: rpcBytes, blockHash: rpcBytes, logs: z.array(Log) });

/**
 * Finds how an authorization was used or cancelled: first in the window of time in which it must have been used if its
 * payment was admitted, then in all blocks, by one query that some hosts refuse.
 *
 * A window of an hour has 18,000 blocks, and some hosts answer for ten at a time. So only the newest blocks are searched by
 * logs, where a recent payment is. An older block is found by bisecting the token's state: once used, an authorization is
 * used in every later block.
 *
 * @param head the last block to look in
 * @returns undefined when the node has no log of it
 * @throws ProviderError
 */
export async function findUse(
  rpc: EthereumRpc,
  id: AuthorizationId,
  { after, before }: TimeWindow,
  head: number,
  signal: AbortSignal,
): Promise<Use | undefined> {
  const newest = await unlessRefused(search(Math.max(0, head - SPAN + 1), head));
  const log = newest.answer ?? (await searchWindow()) ?? (await search(0, head));
  return log && readUse(rpc, id, log, signal);

  async function search(from: number, to: number): Promise<Log | undefined> {
    const topics = [[USED, CANCELLED], addressTopic(id.from), id.nonce];
    const filter = { address: id.token, topics, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    const logs = await rpc.call("eth_getLogs", [filter], z.array(Log), signal);
    return logs.find((log) => isOf(log, id));
  }

  async function searchWindow(): Promise<Log | undefined> {
    const { answer: block, refused } = await unlessRefused(blockOfUse());
    // A node that has pruned the state of that time may still have its logs.
    if (refused) return searchLogs();
    if (block === undefined) return undefined;
    const { timestamp } = await readBlock(rpc, block, signal);
    return after < timestamp && timestamp < before ? search(block, block) : undefined;
  }

  /**
   * The block in which the token first shows the authorization as used, which may be outside the window; undefined when it
   * is used in all of them.
   */
  async function blockOfUse(): Promise<number | undefined> {
    const isUnused = async (block: number) => !(await isAuthorizationUsed(rpc, id, block, signal));
    const blockAt = await clockOfBlocks();
    const end = Math.min(head, blockAt(Number(before)) + SPAN);
    const late = end < head && !(await isUnused(end)) ? end : head;
    const [unused, used] = await gallop(late, { step: Math.max(1, late - blockAt(after) + SPAN), within: 1 }, isUnused);
    return used === 0 || (unused === 0 && !(await isUnused(0))) ? undefined : used;
  }

  /** Estimates the block of a time by the rate of the latest blocks. A bad estimate only costs further queries. */
  async function clockOfBlocks(): Promise<(time: number) => number> {
    const earlier = Math.max(0, head - PACE_SPAN);
    const [first, last] = await Promise.all([rpc.block(earlier, signal), readBlock(rpc, head, signal)]);
    const pace = first && last.timestamp > first.timestamp ? (head - earlier) / (last.timestamp - first.timestamp) : 1;
    return (time) => Math.min(head, Math.max(0, Math.floor(head - (last.timestamp - time) * pace)));
  }

  async function searchLogs(): Promise<Log | undefined> {
    for (let from = await blockBefore(); from <= head; from += SPAN) {
      const to = Math.min(from + SPAN - 1, head);
      const log = await search(from, to);
      if (log) return log;
      if (to < head && (await readBlock(rpc, to, signal)).timestamp >= before) return undefined;
    }
    return undefined;
  }

  /**
   * A block before the window, at most SPAN blocks before the first that is not before it; block 0 when there is none.
   * Found by timestamps alone, because the rate of blocks changes: Base had one every 2 s, and now has one every 200 ms.
   */
  async function blockBefore(): Promise<number> {
    const [early] = await gallop(head, { step: SPAN, within: SPAN }, async (number) => {
      const block = await rpc.block(number, signal);
      // For a node whose history begins later, the blocks before its first one count as early.
      return block === undefined || block.timestamp < after;
    });
    return early;
  }
}

/** Catches a node's refusal, which shows nothing about other queries. @throws ProviderError when the node gives no answer */
async function unlessRefused<T>(asked: Promise<T>): Promise<{ answer?: T; refused: boolean }> {
  try {
    return { answer: await asked, refused: false };
  } catch (error) {
    if (refusalOf(error)) return { refused: true };
    throw error;
  }
}

/**
 * Goes back from the head in steps that double, then bisects, so that newer blocks are found sooner.
 *
 * @param step the first step back, in blocks
 * @param within the greatest distance of the two blocks
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

/** Reads a use from the receipt of its transaction, whose block must still be in the chain. */
async function readUse(rpc: EthereumRpc, id: AuthorizationId, found: Log, signal: AbortSignal): Promise<Use> {
  const { transactionHash: transaction, blockNumber: block, blockHash } = found;
  const receipt = await rpc.call("eth_getTransactionReceipt", [transaction], Receipt.nullable(), signal);
  const { hash } = await readBlock(rpc, block, signal);
  if (receipt?.blockHash !== blockHash || hash !== blockHash || receipt.transactionHash !== transaction)
    throw unavailable(`${rpc.name} does not show transaction ${transaction} where its log is, in block ${blockHash}`);

  return rpc.decode(() => {
    const place = receipt.logs.findIndex((log) => isOf(log, id));
    const [log, next] = receipt.logs.slice(place, place + 2);
    if (receipt.status !== 1 || place < 0 || !log) throw new Error("no successful transaction with that log");
    if (log.topics[0] === CANCELLED) return { kind: "cancelled", transaction, block, blockHash };
    return { kind: "used", transaction, block, blockHash, ...readTransfer(log, next) };
  });
}

/** The token logs the transfer right after the use; one transaction may hold many such pairs. */
function readTransfer(used: Log, next: Log | undefined): { to: Hex; value: bigint } {
  const [event, from, to] = next?.topics ?? [];
  const follows = next?.address === used.address && next.logIndex === used.logIndex + 1;
  if (!follows || event !== TRANSFER || from !== used.topics[1] || to?.length !== 66 || next.data.length !== 66)
    throw new Error("no transfer follows the use of the authorization");
  return { to: getAddress(slice(to, 12)), value: BigInt(next.data) };
}

/** Checks a log again, because a node may ignore the filter. */
function isOf({ address, topics: [event, from, nonce] }: Log, id: AuthorizationId): boolean {
  return (
    address === id.token.toLowerCase() &&
    (event === USED || event === CANCELLED) &&
    from === addressTopic(id.from) &&
    nonce === id.nonce
  );
}
