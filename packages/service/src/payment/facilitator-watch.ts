import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Logger } from "pino";
import { hasCode } from "../errors.ts";
import { Breaker, type Vote } from "../providers/breaker.ts";
import {
  type Facilitator,
  type FacilitatorError,
  facilitatorFailed,
  type SettleAnswer,
  type SupportedKind,
  type VerifyAnswer,
} from "./facilitator.ts";

type Operation = "verify" | "settle" | "supported";

/** Failures in a row of one operation, for whatever reason. */
type Failing = { failures: number; since: number; cause: FacilitatorError };

export type FacilitatorWatchOptions = {
  facilitator: Facilitator;
  /** The rail's log. */
  log: Logger;
  /** Unix ms. */
  now: () => number;
  /** A monotonic clock in ms; default: the process's own. */
  monotonic?: () => number;
  /** Verify and settle requests that may be under way before sales on the rail stop. */
  maxUnderWay?: number;
};

/** A quarter of the calls that may be in flight, so that one facilitator that hangs does not block the other rails. */
const MAX_UNDER_WAY = 500;
/** How long sales rest after a facilitator refused our settlements: a free tier may be used up for a month. */
const REFUSAL_REST_MS = { breakAfter: 3, firstRestMs: 30_000, maxRestMs: 300_000 };
/** A settlement that was not sent is tried again soon: a rest must not outlive the payment. */
const SETTLE_REST_MS = { maxRestMs: 4_000 };
/** `supported` is asked every 15 seconds; a single lost answer does not count. */
const SILENT_AFTER = 2;
/** Payments in a row without an answer, after which `/ready` reports a doubt. */
const DOUBTFUL_AFTER = 5;

/**
 * A facilitator with circuit breakers. It decides whether its rail can be sold on, and logs each change once with its cause.
 *
 * The breakers open when the facilitator is unreachable or does not serve us. Nothing that a payment may cause counts,
 * because its payer could then keep others from paying: not a status 500 or 400, an unreadable answer, or a time-out.
 * Verify and settle have breakers of their own.
 */
export class FacilitatorWatch implements Facilitator {
  readonly #options: FacilitatorWatchOptions;
  readonly #verifying: Breaker;
  readonly #settling: Breaker;
  /** Stops only further sales: every settlement is still sent. */
  readonly #selling: Breaker;
  readonly #failing = new Map<Operation, Failing>();
  #underWay = 0;
  /** When it last answered anything, Unix ms. */
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(options: FacilitatorWatchOptions) {
    const now = options.monotonic && { now: options.monotonic };
    this.#options = options;
    this.#verifying = new Breaker({ ...now });
    this.#settling = new Breaker({ ...now, ...SETTLE_REST_MS });
    this.#selling = new Breaker({ ...now, ...REFUSAL_REST_MS });
  }

  verify(payment: PaymentPayload, requirement: PaymentRequirements, signal: AbortSignal): Promise<VerifyAnswer> {
    const ask = () => this.#options.facilitator.verify(payment, requirement, signal);
    return this.#watch("verify", () => this.#guarded(this.#verifying, isServing, ask));
  }

  settle(payment: PaymentPayload, requirement: PaymentRequirements, signal: AbortSignal): Promise<SettleAnswer> {
    const ask = () => this.#options.facilitator.settle(payment, requirement, signal);
    return this.#watch("settle", async () => {
      try {
        const answer = await this.#guarded(this.#settling, isThere, ask);
        this.#selling.note("answered");
        return answer;
      } catch (error) {
        if (hasCode(error, "facilitator_failed")) this.#selling.note(isSettling(error));
        throw error;
      }
    });
  }

  supported(signal: AbortSignal): Promise<SupportedKind[]> {
    return this.#watch("supported", () => this.#options.facilitator.supported(signal));
  }

  /** Why nothing can be sold by it now: a clause, without the facilitator's own text. */
  obstacle(): string | undefined {
    const { maxUnderWay = MAX_UNDER_WAY } = this.#options;
    if (this.#underWay >= maxUnderWay) return `the facilitator is late with ${this.#underWay} payments`;
    const [verify, settle, supported] = (["verify", "settle", "supported"] as const).map((operation) =>
      this.#failing.get(operation),
    );
    if (verify && this.#verifying.isResting) return clauseFor("verify", verify);
    if (settle && (this.#selling.isResting || this.#settling.isResting)) return clauseFor("settle", settle);
    if (supported && supported.failures >= SILENT_AFTER && this.#answeredAt < supported.since)
      return clauseFor("supported", supported);
    return undefined;
  }

  /** A possible fault of the facilitator, which may also be the fault of single payments. */
  doubt(): string | undefined {
    for (const operation of ["verify", "settle"] as const) {
      const failing = this.#failing.get(operation);
      if (failing && failing.failures >= DOUBTFUL_AFTER) return clauseFor(operation, failing);
    }
    return undefined;
  }

  async #watch<T>(operation: Operation, ask: () => Promise<T>): Promise<T> {
    const isAboutPayment = operation !== "supported";
    if (isAboutPayment) this.#underWay += 1;
    try {
      const answer = await ask();
      this.#answered(operation);
      return answer;
    } catch (error) {
      if (hasCode(error, "facilitator_failed")) this.#failed(operation, error);
      if (hasCode(error, "breaker_open")) throw this.#leftAlone(operation);
      throw error;
    } finally {
      if (isAboutPayment) this.#underWay -= 1;
    }
  }

  #guarded<T>(breaker: Breaker, voteOf: (error: FacilitatorError) => Vote, ask: () => Promise<T>): Promise<T> {
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

  #answered(operation: Operation): void {
    const { log, now } = this.#options;
    this.#answeredAt = now();
    const failing = this.#failing.get(operation);
    if (!failing) return;
    this.#failing.delete(operation);
    const { failures, since } = failing;
    log.info({ operation, failures, since: new Date(since).toISOString() }, "the facilitator answers again");
  }

  #failed(operation: Operation, cause: FacilitatorError): void {
    const { log, now } = this.#options;
    const { failures, since } = this.#failing.get(operation) ?? { failures: 0, since: now() };
    this.#failing.set(operation, { failures: failures + 1, since, cause });
    if (failures === 0) log.warn({ operation, err: cause }, "the facilitator fails");
  }

  #leftAlone(operation: Operation): FacilitatorError {
    const cause = this.#failing.get(operation)?.cause;
    return facilitatorFailed("the facilitator is left alone after repeated failures", "unreachable", cause);
  }
}

/** A gateway's statuses when its upstream is away. */
const AWAY: readonly unknown[] = [502, 503, 504];
/** Statuses about us and not about a payment: credentials, an account that is used up, a wrong URL. */
const NOT_SERVED: readonly unknown[] = [401, 402, 404, 405];

function isThere({ details: { ending } }: FacilitatorError): Vote {
  const isRedirect = typeof ending === "number" && ending >= 300 && ending < 400;
  return ending === "unreachable" || isRedirect || AWAY.includes(ending) ? "failed" : "unclear";
}

function isServing(error: FacilitatorError): Vote {
  return NOT_SERVED.includes(error.details.ending) ? "failed" : isThere(error);
}

/** Also 403, which some send for an account that is used up. For verify it may be about the payer. */
function isSettling(error: FacilitatorError): Vote {
  return error.details.ending === 403 ? "failed" : isServing(error);
}

function clauseFor(operation: Operation, { failures, since, cause }: Failing): string {
  const { ending } = cause.details;
  const what = typeof ending === "number" ? `answers HTTP ${ending}` : ENDINGS[ending];
  return `the facilitator ${what} to ${operation}, ${failures} times in a row since ${new Date(since).toISOString()}`;
}

const ENDINGS = {
  unreachable: "gives no answer",
  late: "gives no answer in time",
  "too long": "gives an endless answer",
  unreadable: "gives an answer that cannot be read",
};
