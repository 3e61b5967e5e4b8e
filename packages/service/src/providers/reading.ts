import { type Clock, deadline } from "../lib/clock.ts";
import { hasCode } from "../lib/errors.ts";
import { agree, type QuorumRules } from "./quorum.ts";

/** Heights of a chain, both inclusive: rounds, block numbers or slots. */
export type Span = { from: number; to: number };

/** The latest height of a chain, and the height up to which it can no longer change. */
export type Heads = { latest: number; final: number };

/** Reads a chain's heights, as the quorum of its nodes states them. Both throw ProviderError. */
export interface ChainHeights {
  /** Returns heights that every answering node has. */
  heads(): Promise<Heads>;

  /** Returns a height before which nothing happened at that time or later. @param time Unix s */
  heightAt(time: number, latest: number): Promise<number>;
}

/** Sends a question to upstreams with a deadline, and repeats it while they are unavailable, at most `tries` times. */
export type Ask = <T>(question: (signal: AbortSignal) => Promise<T>, tries?: number) => Promise<T>;

/** How upstreams are asked. */
export type Asking = { rules: QuorumRules; ask: Ask };

const DEADLINE_MS = 30_000;
const MAX_TRIES = 5;
const FIRST_PAUSE_MS = 500;
const MAX_AT_ONCE = 8;

/** @param stop ends everything that is asked */
export function patiently(clock: Clock, stop: AbortSignal): Ask {
  return async (question, most = MAX_TRIES) => {
    for (let tries = 1; ; tries++) {
      try {
        return await question(deadline(clock, DEADLINE_MS, stop));
      } catch (error) {
        if (!hasCode(error, "providers_unavailable") || tries >= most || stop.aborted) throw error;
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (tries - 1), stop);
      }
    }
  };
}

/**
 * Asks a quorum of nodes.
 * @param about the question, for errors
 * @param same answers with equal texts agree; by default all do
 * @returns the answers that agree
 */
export function answersOf<P extends { readonly name: string }, T>(
  nodes: readonly P[],
  read: (node: P, signal: AbortSignal) => Promise<T>,
  { about, same = () => "" }: { about: string; same?: (answer: T) => string },
  { ask, rules }: Asking,
): Promise<[T, ...T[]]> {
  return ask((signal) => agree(nodes, read, { about, same, signal }, rules));
}

/** Runs work on every item, a few at once, and keeps their order. */
export async function fewAtOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += MAX_AT_ONCE)
    results.push(...(await Promise.all(items.slice(i, i + MAX_AT_ONCE).map(work))));
  return results;
}

/**
 * Finds the first height whose time is not before a given time, by bisection.
 * @param timeOf Unix s of a height; undefined if nodes do not go back to it
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
 * Reads a span from its beginning in pieces. Pieces shrink when nodes refuse one as too large, and grow again when they
 * do not. Only a piece of the smallest size is asked for again, because a refusal looks like a temporary failure.
 * @param sizes of pieces, in heights; `isTooLarge` is true for an error that any piece of that size, or larger, would
 *   get
 * @param read throws ProviderError when a piece cannot be read
 */
export async function* inPieces<T>(
  { from, to }: Span,
  { most, isTooLarge = () => false }: { most: number; isTooLarge?: (error: unknown) => boolean },
  ask: Ask,
  read: (piece: Span, isLeast: boolean, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  let limit = most;
  let size = most;
  for (let start = from; start <= to; ) {
    const piece = { from: start, to: Math.min(start + size - 1, to) };
    const isLeast = size <= 1;
    let answer: T;
    try {
      answer = await ask((signal) => read(piece, isLeast, signal), isLeast ? undefined : 1);
    } catch (error) {
      if (!hasCode(error, "providers_unavailable") || isLeast) throw error;
      if (isTooLarge(error)) limit = size - 1;
      size = Math.floor(size / 2);
      continue;
    }
    yield answer;
    start = piece.to + 1;
    size = Math.min(size * 2, limit);
  }
}
