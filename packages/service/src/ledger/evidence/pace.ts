import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { type Clock, deadline } from "../../clock.ts";
import { count } from "../../metrics/meter.ts";

/** Works on a round. @returns whether to go on with the next one */
export type Carry = (round: number, ends: AbortSignal) => Promise<boolean>;

export type PaceOptions<S extends string> = {
  /** Whose evidence it is, for the log. */
  of: "record" | "source";
  due(state: S, now: number): Promise<number | undefined>;
  postpone(state: S, round: number, due: number): Promise<void>;
  clock: Clock;
  log: Logger;
};

/** For the evidence of one round, or of one interval. */
const ROUND_MS = 60_000;
/** When a round is tried again, in ms: twice as late each time, up to an hour. */
const RETRY_MS = 15_000;
const MAX_RETRY_MS = 60 * 60_000;
/** Rounds of which it is remembered how often they were tried. */
const MAX_TRIED = 10_000;

/** Works on the rounds that are due one after the other, each for a bounded time, and puts off those that fail. */
export function createPace<S extends string>({ of, due, postpone, clock, log }: PaceOptions<S>) {
  /** The last pauses of rounds that were put off, in ms. */
  const tried = new LRUCache<number, number>({ max: MAX_TRIED });
  return { each, attempt, putOff };

  /** @param most rounds, after which others have their turn */
  async function each(state: S, stop: AbortSignal, carry: Carry, most = Number.POSITIVE_INFINITY): Promise<void> {
    for (let [n, goesOn] = [0, true]; n < most && goesOn && !stop.aborted; n++) {
      const round = await due(state, clock.now());
      if (round === undefined) return;
      goesOn = await attempt(state, round, stop, carry);
    }
  }

  /** Works on a round for a bounded time. @returns whether to go on with the next one @throws when it was stopped */
  async function attempt(state: S, round: number, stop: AbortSignal, carry: Carry): Promise<boolean> {
    return carry(round, deadline(clock, ROUND_MS, stop)).catch(async (err: unknown) => {
      if (stop.aborted) throw err;
      // Whatever it is, it must not keep the other rounds from their evidence.
      await putOff(state, round, "unanswered", err);
      return true;
    });
  }

  async function putOff(
    state: S,
    round: number,
    why: "unanswered" | "wrong" | "forgotten",
    err?: unknown,
  ): Promise<void> {
    count("evidence", { of, outcome: why });
    log.warn({ err, round, of, state }, `the evidence of a round is ${why}: it is tried again`);
    const again = Math.min((tried.get(round) ?? RETRY_MS / 2) * 2, MAX_RETRY_MS);
    tried.set(round, again);
    await postpone(state, round, clock.now() + again);
  }
}
