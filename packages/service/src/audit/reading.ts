import { type Clock, deadline } from "../clock.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { ProviderError } from "../providers/provider.ts";
import type { ChainPayment, Span } from "./facts.ts";

/** How far a chain goes, and up to where it can no longer change. */
export type Heads = { latest: number; final: number };

/**
 * Reads the payments to addresses of ours from a rail's chain, by the word of the quorum. Every method throws
 * ProviderError when its nodes give no usable answer, or contradict one another.
 */
export interface PaymentReader {
  readonly rail: RailName;

  /** Heights that every node which answers has. */
  heads(): Promise<Heads>;

  /** A height from before which nothing happened at that time or later. @param time Unix s */
  heightAt(time: number, latest: number): Promise<number>;

  /**
   * Every transfer of USDC to the addresses within the span, in no order; in memory there is never more than a page.
   *
   * @param addresses as settings have them
   */
  payments(addresses: readonly string[], span: Span): AsyncIterable<ChainPayment>;

  /** The transfers of USDC to the addresses in one transaction: none when it is not on the chain, or failed there. */
  inTransaction(id: string, addresses: readonly string[]): Promise<ChainPayment[]>;
}

/**
 * Puts a question to upstreams: with a deadline of its own, and again while they are unavailable.
 *
 * @param tries how often it is put at most
 */
export type Ask = <T>(question: (signal: AbortSignal) => Promise<T>, tries?: number) => Promise<T>;

const DEADLINE_MS = 30_000;
const TRIES = 5;
const FIRST_PAUSE_MS = 500;

/** @param stop ends everything that is asked */
export function patiently(clock: Clock, stop: AbortSignal): Ask {
  return async (question, most = TRIES) => {
    for (let tries = 1; ; tries++) {
      try {
        return await question(deadline(clock, DEADLINE_MS, stop));
      } catch (error) {
        const passes = error instanceof ProviderError && error.code === "providers_unavailable";
        if (!passes || tries >= most || stop.aborted) throw error;
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (tries - 1), stop);
      }
    }
  };
}

/** Runs work on every item, a few at once, and keeps their order. */
export async function fewAtOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const AT_ONCE = 8;
  const results: R[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE)
    results.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(work))));
  return results;
}

/**
 * Finds the first height whose time is not before another, by halving.
 *
 * @param timeOf Unix s of a height; undefined for one that nodes do not go back to
 */
export async function firstAt(
  time: number,
  latest: number,
  timeOf: (height: number) => Promise<number | undefined>,
): Promise<number> {
  let before = -1;
  let after = latest;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const found = await timeOf(middle);
    if (found === undefined || found < time) before = middle;
    else after = middle;
  }
  return after;
}

/**
 * Reads a span from its beginning, in pieces that get smaller when nodes refuse one as too large, and larger again when
 * they do not. Only the smallest is asked for with patience: a refusal cannot be told from a failure that passes.
 *
 * @param sizes of pieces, in heights
 * @param read throws ProviderError when a piece cannot be read
 */
export async function* inPieces<T>(
  { from, to }: Span,
  { most, least }: { most: number; least: number },
  ask: Ask,
  read: (piece: Span, isLeast: boolean, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  let size = most;
  for (let start = from; start <= to; ) {
    const piece = { from: start, to: Math.min(start + size - 1, to) };
    const isLeast = size <= least;
    let answer: T;
    try {
      answer = await ask((signal) => read(piece, isLeast, signal), isLeast ? undefined : 1);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== "providers_unavailable" || isLeast) throw error;
      size = Math.max(least, Math.floor(size / 4));
      continue;
    }
    yield answer;
    start = piece.to + 1;
    size = Math.min(size * 2, most);
  }
}
