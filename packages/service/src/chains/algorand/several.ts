import type { Location } from "../../providers/algorand-nodes.ts";
import type { BlockOfTransaction, SourceError, SourceTransaction, SourceTransactions } from "../chain.ts";
import { forEach, Gathered, orSourceError } from "../several.ts";
import type { AlgorandReading } from "./block.ts";
import { type InBlock, type ReadTransaction, readBlockOf, readTransaction, rebuildBlock } from "./read.ts";

/** The limit of transactions that are located at the same time. */
const MAX_AT_ONCE = 8;

/**
 * Reads transactions like `AlgorandSource.transaction`: it locates one, reads its block once, takes every other wanted
 * one from that block, and continues with the rest.
 * @param locate finds the round of one. @throws source_not_found
 * @throws as `SourceChain.transactions` does
 */
export async function readSeveral(
  reading: AlgorandReading,
  txnIds: readonly string[],
  locate: (txnId: string, signal: AbortSignal) => Promise<Location>,
  signal: AbortSignal,
): Promise<SourceTransactions> {
  const gathered = new Gathered();
  const rest = new Set(txnIds);
  /** Results for rounds that no algod keeps. */
  const unread = new Map<number, InBlock>();
  const rebuilt = new Map<number, Promise<BlockOfTransaction>>();

  function settle(txnId: string, found: SourceTransaction | SourceError): void {
    if (rest.delete(txnId)) gathered.add(txnId, found);
  }

  async function settleIn(txnId: string, location: Location, inBlock: InBlock, ends: AbortSignal): Promise<void> {
    const read = async () => sourceOf(txnId, location, await readTransaction(reading, txnId, location, inBlock, ends));
    settle(txnId, await orSourceError(read()));
  }

  async function sourceOf(txnId: string, { round }: Location, read: ReadTransaction): Promise<SourceTransaction> {
    const { bytes, caip2, block } = read;
    if (block === undefined && !rebuilt.has(round)) rebuilt.set(round, rebuildBlock(reading, round, signal));
    const whole = block ?? ((await rebuilt.get(round)) as BlockOfTransaction);
    return { chain: "algorand", caip2, txnId, bytes, level: "finalized", block: whole };
  }

  async function readRound(round: number, there: readonly Located[], ends: AbortSignal): Promise<void> {
    const [[first]] = there as [Located];
    const others = [...rest].filter((txnId) => txnId !== first);
    const inBlock = unread.get(round) ?? (await readBlockOf(reading, first, round, ends, others));
    if (inBlock.kind === "unread") unread.set(round, inBlock);
    const found = inBlock.kind === "unread" ? undefined : inBlock.others;
    for (const [txnId, location] of there) {
      const place = found?.get(txnId);
      if (txnId === first || inBlock.kind === "unread") await settleIn(txnId, location, inBlock, ends);
      else if (place) await settleIn(txnId, location, { ...inBlock, ...place }, ends);
      else await settleIn(txnId, location, await readBlockOf(reading, txnId, round, ends), ends);
    }
    if (inBlock.kind === "unread") return;
    for (const [txnId, place] of found ?? []) await settleIn(txnId, { round }, { ...inBlock, ...place }, ends);
  }

  // Fewer at once if they share a block, because then one look-up is enough.
  for (let atOnce = 1; rest.size > 0; ) {
    const located: Located[] = [];
    const locateOne = async (txnId: string, ends: AbortSignal) => {
      const location = await orSourceError(locate(txnId, ends));
      if (location instanceof Error) settle(txnId, location);
      else located.push([txnId, location]);
    };
    await forEach(rest.values().take(atOnce).toArray(), atOnce, locateOne, signal);
    const rounds = Map.groupBy(located, ([, { round }]) => round);
    await forEach(rounds, atOnce, ([round, there], ends) => readRound(round, there, ends), signal);
    atOnce = rounds.size < located.length ? Math.ceil(atOnce / 2) : Math.min(2 * atOnce, MAX_AT_ONCE);
  }
  return gathered.all;
}

type Located = [txnId: string, location: Location];
