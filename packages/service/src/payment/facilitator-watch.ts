import type { Logger } from "pino";
import { hasCode } from "../lib/errors.ts";
import { count, timed } from "../observe/metrics/meter.ts";
import { stage } from "../observe/tracing/stage.ts";
import { Breaker, type Vote } from "../providers/breaker.ts";
import {
  DecidedByChain,
  type Facilitator,
  type FacilitatorError,
  facilitatorFailed,
  type SettleAnswer,
} from "./facilitator.ts";

type Operation = keyof Facilitator;

/**
 * Consecutive failures of one operation, for any reason. `since` and `at`, of the first and the last one, in Unix ms.
 */
type Failing = { failures: number; since: number; at: number; cause: FacilitatorError };

export type FacilitatorWatchOptions = {
  facilitator: Facilitator;
  /** The names under which it is counted: the rail, and the host of its URL. */
  rail: string;
  host: string;
  /** The rail's log. */
  log: Logger;
  /** Unix ms. */
  now: () => number;
  /** A monotonic clock in ms; default: the process's own. */
  monotonic?: () => number;
  /** How many verify and settle requests may be pending before sales on the rail stop. */
  maxUnderWay?: number;
};

/** A quarter of the calls that may be in flight, so that one facilitator that hangs does not block the other rails. */
const MAX_UNDER_WAY = 500;
/** How long sales pause after a facilitator refused our settlements: a free tier may be used up for a month. */
const REFUSAL_REST_MS = { breakAfter: 3, firstRestMs: 30_000, maxRestMs: 300_000 };
/** How long settlements pause. It is short, because an unsent settlement must be retried while the payment is valid. */
const SETTLE_REST_MS = { maxRestMs: 4_000 };
/** `supported` is asked every 15 seconds; a single lost answer does not count. */
const SILENT_AFTER = 2;
/**
 * How long a facilitator is not preferred after giving no verdict, or after asking us to send less without naming a
 * time, in ms.
 */
const TROUBLED_MS = 30_000;
/** Consecutive payments without an answer after which `/ready` reports the facilitator as degraded. */
const DEGRADED_AFTER = 5;

/** How well a facilitator works, judged by its answers. */
export type Condition = {
  /** Returns why nothing can be sold with it now: a clause, without the facilitator's own text; undefined if it can. */
  unavailableReason(): string | undefined;
  /**
   * Returns what may be wrong with it, or with single payments, although it still sells: a clause; undefined if
   * nothing.
   */
  degradedReason(): string | undefined;
  /**
   * Whether another facilitator is preferred now, because this one asked us to send less, or gave no verdict recently.
   */
  isBusy(): boolean;
};

export type WatchedFacilitator = Facilitator & Condition;

/**
 * Puts circuit breakers in front of a facilitator, counts and measures its answers, and logs each change once with its
 * cause.
 *
 * The breakers open when the facilitator is unreachable or refuses us. Failures that a payment may cause do not count,
 * because a payer could then keep others from paying: not a status 500 or 400, an unreadable answer, or a time-out.
 * Verify and settle have separate breakers.
 */
export function watchFacilitator(options: FacilitatorWatchOptions): WatchedFacilitator {
  const { facilitator, rail, host, log, now, monotonic, maxUnderWay = MAX_UNDER_WAY } = options;
  const clock = monotonic && { now: monotonic };
  const verifying = new Breaker({ ...clock });
  const settling = new Breaker({ ...clock, ...SETTLE_REST_MS });
  // Stops only further sales: every settlement is still sent.
  const selling = new Breaker({ ...clock, ...REFUSAL_REST_MS });
  const failing = new Map<Operation, Failing>();
  let underWay = 0;
  /** When it last answered anything, Unix ms. */
  let answeredAt = Number.NEGATIVE_INFINITY;

  return {
    verify: (...asked) => {
      const ask = () => measured("verify", () => facilitator.verify(...asked));
      const observed = () => stage("verify", { "attestd.facilitator": host }, ask);
      return watch("verify", () => guard(verifying, isServing, observed));
    },

    settle: (...asked) =>
      watch("settle", async () => {
        try {
          const answer = await guard(settling, isThere, () => settle(...asked));
          selling.note("answered");
          return answer;
        } catch (error) {
          if (hasCode(error, "facilitator_failed")) selling.note(isSettling(error));
          throw error;
        }
      }),

    supported: (signal) => watch("supported", () => measured("supported", () => facilitator.supported(signal))),

    unavailableReason() {
      if (underWay >= maxUnderWay) return `the facilitator is late with ${underWay} payments`;
      if (verifying.isResting && failing.has("verify")) return clauseFor("verify");
      if ((selling.isResting || settling.isResting) && failing.has("settle")) return clauseFor("settle");
      const silence = failing.get("supported");
      const isSilent = silence && isSilentAfter(silence) && answeredAt < silence.since;
      return isSilent ? clauseFor("supported") : undefined;
    },

    degradedReason() {
      const isDoubtful = (operation: Operation) => {
        const past = failing.get(operation);
        return past !== undefined && (isRefusal(past.cause) || past.failures >= DEGRADED_AFTER);
      };
      const doubtful = (["settle", "verify"] as const).find(isDoubtful);
      return doubtful && clauseFor(doubtful);
    },

    isBusy: () =>
      (["verify", "settle"] as const).some((operation) => {
        const { at = Number.NEGATIVE_INFINITY, cause } = failing.get(operation) ?? {};
        return now() < at + (cause?.details.retryAfterMs ?? TROUBLED_MS);
      }),
  };

  function measured<T>(operation: Operation, ask: () => Promise<T>): Promise<T> {
    return timed("facilitatorSeconds", { facilitator: host, operation }, ask);
  }

  async function settle(...asked: Parameters<Facilitator["settle"]>): Promise<SettleAnswer> {
    const settled = (outcome: string) => count("settlements", { rail, facilitator: host, outcome });
    const [, , signal] = asked;
    try {
      const answer = await measured("settle", () => facilitator.settle(...asked));
      if (answer.success) settled("success");
      else settled(answer.isPending ? "pending" : "refused");
      return answer;
    } catch (error) {
      settled(signal.reason instanceof DecidedByChain ? "not_awaited" : "failed");
      throw error;
    }
  }

  async function watch<T>(operation: Operation, ask: () => Promise<T>): Promise<T> {
    const isAboutPayment = operation !== "supported";
    if (isAboutPayment) underWay += 1;
    try {
      const answer = await ask();
      answeredAt = now();
      const past = failing.get(operation);
      failing.delete(operation);
      const facts = past && { operation, failures: past.failures, since: timeOf(past) };
      if (facts) log.info(facts, "the facilitator answers again");
      return answer;
    } catch (error) {
      if (hasCode(error, "facilitator_failed")) noteFailure(operation, error);
      if (!hasCode(error, "breaker_open")) throw error;
      const cause = failing.get(operation)?.cause;
      throw facilitatorFailed("nothing is sent to the facilitator after repeated failures", "unreachable", { cause });
    } finally {
      if (isAboutPayment) underWay -= 1;
    }
  }

  function noteFailure(operation: Operation, cause: FacilitatorError): void {
    const past = failing.get(operation);
    const { failures, since } = past ?? { failures: 0, since: now() };
    failing.set(operation, { failures: failures + 1, since, at: now(), cause });
    const { ending } = cause.details;
    if (!isRefusal(cause)) {
      if (failures === 0) log.warn({ operation, err: cause }, "the facilitator fails");
      return;
    }
    if (past?.cause.details.ending === ending) return;
    log.error({ operation, err: cause, remedy: REMEDIES[Number(ending)] }, "the facilitator refuses us");
  }

  function clauseFor(operation: Operation): string | undefined {
    const past = failing.get(operation);
    if (!past) return undefined;
    const { ending } = past.cause.details;
    const what = typeof ending === "number" ? `answers HTTP ${ending}` : ENDINGS[ending];
    const remedy = typeof ending === "number" && REMEDIES[ending] ? `: ${REMEDIES[ending]}` : "";
    return `the facilitator ${what} to ${operation}, ${past.failures} times in a row since ${timeOf(past)}${remedy}`;
  }
}

function timeOf({ since }: Failing): string {
  return new Date(since).toISOString();
}

/** Runs a request behind a breaker. @param voteOf what a failure shows about the facilitator */
function guard<T>(breaker: Breaker, voteOf: (error: FacilitatorError) => Vote, ask: () => Promise<T>): Promise<T> {
  return breaker.run(async (vote) => {
    try {
      const answer = await ask();
      vote("answered");
      return answer;
    } catch (error) {
      if (hasCode(error, "facilitator_failed")) vote(voteOf(error));
      throw error;
    }
  });
}

/** Statuses of a gateway whose upstream is away. */
const AWAY: readonly unknown[] = [502, 503, 504];
/** Statuses about us rather than about a payment: credentials, a used-up account, a wrong URL. */
const NOT_SERVED: readonly unknown[] = [401, 402, 404, 405];

function isThere({ details: { ending } }: FacilitatorError): Vote {
  const isRedirect = typeof ending === "number" && ending >= 300 && ending < 400;
  return ending === "unreachable" || isRedirect || AWAY.includes(ending) ? "failed" : "unclear";
}

function isServing(error: FacilitatorError): Vote {
  return NOT_SERVED.includes(error.details.ending) ? "failed" : isThere(error);
}

/**
 * Judges a settlement's failure. It includes 403, which some send for a used-up account; for verify it may be about the
 * payer.
 */
function isSettling(error: FacilitatorError): Vote {
  return error.details.ending === 403 ? "failed" : isServing(error);
}

/** What an operator should do about a facilitator that refuses us, by HTTP status. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: "check its …_KIND, …_KEY_ID and …_SECRET, the addresses that the key allows (IPv6 too), and this host's clock",
  403: "check the account with it: its free tier may be used up, or the key may not be allowed to settle",
};

/** Whether it refuses us, which is an alarm for the operator. */
function isRefusal({ details: { ending } }: FacilitatorError): boolean {
  return typeof ending === "number" && ending in REMEDIES;
}

/** Whether failures count as silence: a single lost answer does not, a refusal does. */
function isSilentAfter({ failures, cause }: Failing): boolean {
  return failures >= SILENT_AFTER || isRefusal(cause);
}

const ENDINGS = {
  unreachable: "gives no answer",
  late: "gives no answer in time",
  "too long": "gives an answer that is too long",
  unreadable: "gives an answer that cannot be read",
};
