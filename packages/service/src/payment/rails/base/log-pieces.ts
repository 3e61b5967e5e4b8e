import { numberToHex } from "viem/utils";
import { z } from "zod";
import type { EthereumRpc } from "../../../providers/ethereum-rpc.ts";
import { refusalOf } from "../../../providers/json-rpc.ts";
import { isLag } from "./lag.ts";
import { Log } from "./usdc-contract.ts";

/** A query for logs (`eth_getLogs`). */
export type LogFilter = { address: string; topics: readonly (string | null | readonly string[])[] };

/** The logs of a range of blocks, both inclusive. */
export type LogPiece = { from: number; to: number; logs: Log[] };

/**
 * Refusals of queries that cover too many blocks, or find too much: Alchemy, Infura, QuickNode, Tenderly, drpc,
 * Avalanche; geth, reth, Erigon.
 */
const TOO_MUCH =
  /block range|range limit|limited to|return(?:s|ed) (?:more than|too many)|range .*(?:too (?:large|wide)|exceed)|ranges over|too many blocks|max results/i;
/** Codes of such refusals, whatever their words: Infura and cdp-erigon; reth, Erigon and Tenderly; QuickNode. */
const TOO_MUCH_CODES: ReadonlySet<number> = new Set([-32005, -32602, -32614]);
/** Refusals with one of these codes that a shorter span does not help. */
const TOO_OFTEN = /rate|per second|too many requests|quota|credits|daily/i;

/** Whether a node refused a query for logs that it might answer for fewer blocks. */
export function isTooMuch(error: unknown): boolean {
  // A quorum's error has the node's error as its cause.
  const refusal = refusalOf(error) ?? (error instanceof Error ? refusalOf(error.cause) : undefined);
  if (!refusal || isLag(error) || isLag((error as Error).cause)) return false;
  const { message, details } = refusal;
  return TOO_MUCH.test(message) || (TOO_MUCH_CODES.has(details.rpcCode) && !TOO_OFTEN.test(message));
}

/**
 * How long without a refusal until twice as many blocks are requested again: a node's plan or load may have changed.
 */
const GROW_AFTER_MS = 3_600_000;

/**
 * Reads logs from one node, for as many blocks at once as it answers: at most `most`, half as many after each refusal,
 * and twice as many after an hour without one. The accepted number is remembered, so that few queries are refused.
 * @param most blocks in one query
 * @param now ms
 */
export function logPieces(rpc: EthereumRpc, most: number, now: () => number) {
  let span = most;
  /** When the span last changed. */
  let since = now();
  return { last };

  function change(blocks: number): void {
    span = Math.min(most, blocks);
    since = now();
  }

  /** Reads the last of some blocks: as many as the node answers for. @throws ProviderError */
  async function last(filter: LogFilter, { from, to }: Omit<LogPiece, "logs">, signal: AbortSignal): Promise<LogPiece> {
    if (span < most && now() - since >= GROW_AFTER_MS) change(2 * span);
    for (;;) {
      const first = Math.max(from, to - span + 1);
      try {
        const query = { ...filter, fromBlock: numberToHex(first), toBlock: numberToHex(to) };
        return { from: first, to, logs: await rpc.call("eth_getLogs", [query], z.array(Log), signal) };
      } catch (error) {
        if (first === to || !isTooMuch(error)) throw error;
        change(Math.floor((to - first + 1) / 2));
      }
    }
  }
}
