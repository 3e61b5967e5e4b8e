import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { type Clock, deadline } from "../../lib/clock.ts";
import { count } from "../../observe/metrics/meter.ts";
import type { EvidenceJournal, EvidenceQueue } from "./journal.ts";

/** Works on a round. @returns whether to go on with the next one */
export type Carry = (round: number, ends: AbortSignal) => Promise<boolean>;

export type PaceOptions = { journal: Pick<EvidenceJournal, "dueRound" | "postpone">; clock: Clock; log: Logger };

/** For the evidence of one round. */
const ROUND_MS = 60_000;
/** When a round is tried again, in ms: twice as late each time, up to an hour. */
const RETRY_MS = 15_000;
const MAX_RETRY_MS = 60 * 60_000;
/** How long after its call a source is tried: then ordinary nodes have forgotten its round, in ms. */
const GIVE_UP_MS = 60 * 60_000;
/** Rounds of which it is remembered how often they were tried. */
const MAX_TRIED = 10_000;

/** Works on the rounds that are due one after the other, each for a bounded time, and puts off those that fail. */
export function createPace({ journal, clock, log }: PaceOptions) {
  /** The last pauses of rounds that were put off, in ms. */
  const tried = new LRUCache<number, number>({ maxSize: MAX_TRIED, sizeCalculation: () => 1 });
  return { each, attempt, putOff };

  /** @param most rounds, after which others have their turn */
  async function each(queue: EvidenceQueue, stop: AbortSignal, carry: Carry, most: number): Promise<void> {
    for (let [n, goesOn] = [0, true]; n < most && goesOn && !stop.aborted; n++) {
      const round = await journal.dueRound(queue, clock.now());
      if (round === undefined) return;
      goesOn = await attempt(queue, round, stop, carry);
    }
  }

  /** Works on a round for a bounded time. @returns whether to go on with the next one @throws when it was stopped */
  async function attempt(queue: EvidenceQueue, round: number, stop: AbortSignal, carry: Carry): Promise<boolean> {
    return carry(round, deadline(clock, ROUND_MS, stop)).catch(async (err: unknown) => {
      if (stop.aborted) throw err;
      // Whatever it is, it must not keep the other rounds from their evidence.
      await putOff(queue, round, "unanswered", err);
      return true;
    });
  }

  /** Makes what waits in a round due later. A source that no node shows for an hour is given up. */
  async function putOff(
    queue: EvidenceQueue,
    round: number,
    why: "unanswered" | "wrong" | "forgotten",
    err?: unknown,
  ): Promise<void> {
    const again = Math.min((tried.get(round) ?? RETRY_MS / 2) * 2, MAX_RETRY_MS);
    const { left, given } = await journal.postpone(queue, round, clock.now() + again, clock.now() - GIVE_UP_MS);
    if (given > 0) count("evidence", { of: queue, outcome: queue === "block" ? "impossible" : "absent" }, given);
    if (left === 0) return;
    tried.set(round, again);
    count("evidence", { of: queue, outcome: why });
    log.warn({ err, round, of: queue }, `the evidence of a round is ${why}: it is tried again`);
  }
}
