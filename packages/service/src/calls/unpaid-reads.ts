import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import { ServiceError } from "../errors.ts";
import { Problem } from "../problems.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";

/** Batches of one payer that may be read within the window without being bought. */
export const MAX_UNBOUGHT = 4;
/**
 * Readings of one batch that take one place together, since its chains could not be read and all that its payer can do is to
 * repeat it. Few: a payer may know of an id that no node can answer for.
 */
export const MAX_REPEATED = 5;
/** Problems that are our nodes'. That a source is not final yet is none: its payer has chosen it. */
const OURS: readonly string[] = ["providers_unavailable", "providers_conflict"];
/** In ms. */
export const WINDOW_MS = 5 * 60_000;
/** Payers that are remembered; each of them has shown money for a batch. */
const MAX_PAYERS = 10_000;

/** A batch whose sources were read for a payer. `isOver`: the reading has ended, and the batch was not bought. */
type Reading = { hash: string; begunAt: number; repeated: number; isOver: boolean };

/**
 * Bounds what a payer may have read without buying: a thousand look-ups are one request, and one unknown id makes them
 * free. It goes by the payer, not by the payment, because to sign another payment costs nothing. A purchase takes nothing.
 */
export function createUnpaidReads(clock: Pick<Clock, "now">) {
  // By size: with `max` the room for all of them would be made now.
  const payers = new LRUCache<string, Reading[]>({ maxSize: MAX_PAYERS, sizeCalculation: () => 1 });

  function recentOf(payer: string): Reading[] {
    return (payers.get(payer) ?? []).filter(({ begunAt }) => clock.now() - begunAt < WINDOW_MS);
  }

  /** @returns the reading that a request goes on with, which takes no other place. @throws Problem when it may begin none */
  function underWay(payer: string, hash: string): Reading | undefined {
    const recent = recentOf(payer);
    const own = recent.find((reading) => reading.hash === hash && !reading.isOver);
    const [oldest] = recent;
    if (!own && oldest && recent.length >= MAX_UNBOUGHT) throw tooMany(WINDOW_MS - (clock.now() - oldest.begunAt));
    return own;
  }

  function begin(payer: string, hash: string): Reading {
    const begun = { hash, begunAt: clock.now(), repeated: 0, isOver: false };
    payers.set(payer, [...recentOf(payer), begun]);
    return begun;
  }

  function forget(payer: string, own: Reading): void {
    const rest = recentOf(payer).filter((reading) => reading !== own);
    if (rest.length > 0) payers.set(payer, rest);
    else payers.delete(payer);
  }

  return {
    /**
     * Refuses what `run` would refuse, before anyone is asked about the payment.
     *
     * @param payer with its rail
     * @throws Problem `over_capacity` when too many batches of this payer were read and not bought
     */
    check(payer: string, subject: Subject): void {
      if (subject.kind === "batch") underWay(payer, requestHash(subject));
    },

    /**
     * Runs the reading of a subject's sources; of anything but a batch without a bound.
     *
     * @param payer with its rail
     * @throws Problem as `check`; what the reading throws
     */
    async run<T>(payer: string, subject: Subject, read: () => Promise<T>): Promise<T> {
      if (subject.kind !== "batch") return read();
      const hash = requestHash(subject);
      const own = underWay(payer, hash) ?? begin(payer, hash);
      try {
        const found = await read();
        forget(payer, own);
        return found;
      } catch (error) {
        const code = error instanceof Problem || error instanceof ServiceError ? error.code : "internal";
        if (code === "over_capacity") forget(payer, own);
        else if (OURS.includes(code)) own.isOver ||= ++own.repeated >= MAX_REPEATED;
        else if (code !== "source_reading") own.isOver = true;
        throw error;
      }
    },
  };
}

function tooMany(ms: number): Problem {
  const detail = `${MAX_UNBOUGHT} batches of this payer were read and not bought. Nothing was charged: leave out what the answers named.`;
  return new Problem("over_capacity", detail, { retryAfter: Math.max(1, Math.ceil(ms / 1000)) });
}
