import { LRUCache } from "lru-cache";
import type { Clock } from "../lib/clock.ts";
import { Problem, type ProblemCode } from "../lib/problems.ts";
import { ITEM_FAULTS } from "../subjects/batch.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";

/** Batches of one payer that may be refused for what they name, or left, within the window. */
export const MAX_REFUSED = 4;
/** Batches of one payer that may be under way: a quarter of those that may be read or wait at all (`batch-reader.ts`). */
export const MAX_UNDER_WAY = 8;
/** For how long a refusal counts, and after how long a batch counts as left whose payer does not come again, in ms. */
export const WINDOW_MS = 5 * 60_000;
/** For how long a batch keeps its place that we could not read, in ms: as long as its payer is told to wait. */
const FAILED_MS = 10_000;
/** After how many seconds a place may be free. */
const RETRY_AFTER = 5;
/** Payers that are remembered; each of them has shown money for a batch. */
const MAX_PAYERS = 10_000;

/**
 * A batch under way. `until`: when its place is free, whatever became of it (Unix ms); `isAwaited`: it is being read, and its
 * payer was told to come again.
 */
type Place = { until: number; isAwaited: boolean };

/** What a payer has caused: when its batches were refused or counted as left, oldest first, and what is under way, by the batch's hash. */
type Payer = { refusedAt: readonly number[]; underWay: ReadonlyMap<string, Place> };

/**
 * Bounds what a payer may have read without buying: a thousand look-ups are one request, and one unknown id makes them
 * free. Refusals for what a batch names count against its payer, and so does a batch that it has read and never comes back
 * for; what is under way takes a place until it ends. All go by the payer, not by the payment, because to sign another
 * payment costs nothing.
 */
export function createUnpaidReads(clock: Pick<Clock, "now">) {
  // By size: with `max` the room for all of them would be made now.
  const payers = new LRUCache<string, Payer>({ maxSize: MAX_PAYERS, sizeCalculation: () => 1 });

  /** What still counts. */
  function status(payer: string): Payer {
    const now = clock.now();
    const { refusedAt = [], underWay = new Map<string, Place>() } = payers.get(payer) ?? {};
    const left = [...underWay.values()].filter(({ until, isAwaited }) => isAwaited && until <= now);
    const countedAt = [...refusedAt, ...left.map(({ until }) => until)].sort((a, b) => a - b);
    return {
      refusedAt: countedAt.filter((at) => now - at < WINDOW_MS),
      underWay: new Map([...underWay].filter(([, { until }]) => until > now)),
    };
  }

  /** @throws Problem where the batch has no place and gets none */
  function requirePlace(payer: string, hash: string): void {
    const { refusedAt, underWay } = status(payer);
    if (underWay.has(hash)) return;
    const [oldest] = refusedAt;
    if (oldest !== undefined && refusedAt.length >= MAX_REFUSED) throw refused(WINDOW_MS - (clock.now() - oldest));
    if (underWay.size >= MAX_UNDER_WAY) throw full();
  }

  /** Takes a place, or the one that the batch has already. */
  function take(payer: string, hash: string): Place {
    const { refusedAt, underWay } = status(payer);
    const place = underWay.get(hash) ?? { until: 0, isAwaited: false };
    place.until = clock.now() + WINDOW_MS;
    payers.set(payer, { refusedAt, underWay: new Map(underWay).set(hash, place) });
    return place;
  }

  /** Ends a batch, once for all requests that share its place. */
  function leave(payer: string, hash: string, place: Place, isRefused: boolean): void {
    const { refusedAt, underWay } = status(payer);
    if (underWay.get(hash) !== place) return;
    const rest = new Map(underWay);
    rest.delete(hash);
    payers.set(payer, { refusedAt: isRefused ? [...refusedAt, clock.now()] : refusedAt, underWay: rest });
  }

  return {
    /**
     * Refuses what `run` would refuse, before anyone is asked about the payment.
     *
     * @param payer with its rail
     * @throws Problem `over_capacity` when too many batches of this payer were refused, or are under way
     */
    check(payer: string, subject: Subject): void {
      if (subject.kind === "batch") requirePlace(payer, requestHash(subject));
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
      requirePlace(payer, hash);
      const place = take(payer, hash);
      try {
        const found = await read();
        leave(payer, hash, place, false);
        return found;
      } catch (error) {
        const code = error instanceof Problem ? error.code : undefined;
        if (code && PAYERS_OWN.includes(code)) leave(payer, hash, place, true);
        else if (code === "over_capacity") leave(payer, hash, place, false);
        else {
          place.isAwaited = code === "source_reading";
          if (!place.isAwaited) place.until = clock.now() + FAILED_MS;
        }
        throw error;
      }
    },
  };
}

/** Refusals for what the payer itself named. That a source is not final yet is one: its payer chose it. */
const PAYERS_OWN: readonly ProblemCode[] = ITEM_FAULTS;

function refused(ms: number): Problem {
  const detail = `${MAX_REFUSED} batches of this payer named transactions that cannot be attested, or were left while they were read. Nothing was charged: leave out what the answers named.`;
  return new Problem("over_capacity", detail, { retryAfter: Math.max(1, Math.ceil(ms / 1000)) });
}

function full(): Problem {
  const detail = `${MAX_UNDER_WAY} batches of this payer are being read, and no more of it at a time. Nothing was charged: send this one again.`;
  return new Problem("over_capacity", detail, { retryAfter: RETRY_AFTER });
}
