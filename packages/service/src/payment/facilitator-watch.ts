import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Logger } from "pino";
import { Breaker, Resting, type Vote } from "../providers/breaker.ts";
import {
  type Facilitator,
  FacilitatorError,
  type SettleAnswer,
  type SupportedKind,
  type VerifyAnswer,
} from "./facilitator.ts";

type Operation = "verify" | "settle" | "supported";

/** Failures in a row of one operation, for whatever reason. */
type Failing = { failures: number; since: number; cause: FacilitatorError };

export type FacilitatorWatchOptions = {
  facilitator: Facilitator;
  /** Of the rail. */
  log: Logger;
  /** Unix ms. */
  now: () => number;
  /** Never steps back, ms; the process's own unless set. */
  monotonic?: () => number;
  /** Questions about payments that may be under way before no more is sold by it. */
  mostUnderWay?: number;
};

/** A quarter of all the calls that may be in flight: a facilitator that hangs leaves the others their places. */
const MOST_UNDER_WAY = 500;
/** How long a facilitator that takes no settlement from us is not sold by: a free tier ends for a month, a key is replaced. */
const REFUSAL_REST_MS = { breakAfter: 3, firstRestMs: 30_000, longestRestMs: 300_000 };
/** A settlement that did not leave is begun again soon: a rest must not outlive the payment. */
const SETTLE_REST_MS = { longestRestMs: 4_000 };
/** `supported` is asked every 15 seconds: one that is lost is none. */
const SILENT_AFTER = 2;
/** Payments in a row that had no answer, after which the operator is told that it may not be the payments. */
const DOUBTFUL_AFTER = 5;

/**
 * A facilitator, and whether one can sell by it. Logs each change with its cause, once.
 *
 * It is left alone when it is not there, and when it does not serve us. Nothing that a payment may cause counts: its payer
 * could keep others from paying. So neither the status of a failure of its own (500) nor of a malformed request (400), nor
 * an answer that cannot be read, nor the time it takes tells anything; and verify and settle are left alone apart.
 */
export class FacilitatorWatch implements Facilitator {
  readonly #options: FacilitatorWatchOptions;
  readonly #verifying: Breaker;
  readonly #settling: Breaker;
  /** Lets every settlement leave: what rests is only the sale of further ones. */
  readonly #selling: Breaker;
  readonly #failing = new Map<Operation, Failing>();
  #underWay = 0;
  /** When it last answered anything. */
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
        if (error instanceof FacilitatorError) this.#selling.note(isSettling(error));
        throw error;
      }
    });
  }

  supported(signal: AbortSignal): Promise<SupportedKind[]> {
    return this.#watch("supported", () => this.#options.facilitator.supported(signal));
  }

  /** Why nothing can be sold by it now: a clause, without what it said itself. */
  obstacle(): string | undefined {
    const { mostUnderWay = MOST_UNDER_WAY } = this.#options;
    if (this.#underWay >= mostUnderWay) return `the facilitator is late with ${this.#underWay} payments`;
    const [verify, settle, supported] = (["verify", "settle", "supported"] as const).map((operation) =>
      this.#failing.get(operation),
    );
    if (verify && this.#verifying.isResting) return wordsFor("verify", verify);
    if (settle && (this.#selling.isResting || this.#settling.isResting)) return wordsFor("settle", settle);
    if (supported && supported.failures >= SILENT_AFTER && this.#answeredAt < supported.since)
      return wordsFor("supported", supported);
    return undefined;
  }

  /** What may keep it from being sold by, and may as well be the fault of single payments. */
  doubt(): string | undefined {
    for (const operation of ["verify", "settle"] as const) {
      const failing = this.#failing.get(operation);
      if (failing && failing.failures >= DOUBTFUL_AFTER) return wordsFor(operation, failing);
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
      if (error instanceof FacilitatorError) this.#failed(operation, error);
      if (error instanceof Resting) throw this.#leftAlone(operation);
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
        if (error instanceof FacilitatorError) vote(voteOf(error));
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
    return new FacilitatorError("the facilitator is left alone after repeated failures", "unreachable", cause);
  }
}

/** Of a gateway whose upstream is away. */
const AWAY: readonly unknown[] = [502, 503, 504];
/** About us and not about a payment: credentials, an account that is used up, a wrong URL. */
const NOT_SERVED: readonly unknown[] = [401, 402, 404, 405];

function isThere({ ending }: FacilitatorError): Vote {
  const isRedirect = typeof ending === "number" && ending >= 300 && ending < 400;
  return ending === "unreachable" || isRedirect || AWAY.includes(ending) ? "failed" : "unclear";
}

function isServing(error: FacilitatorError): Vote {
  return NOT_SERVED.includes(error.ending) ? "failed" : isThere(error);
}

/** 403 too: an account that is used up, in the words of some. To verify it may be about the payer. */
function isSettling(error: FacilitatorError): Vote {
  return error.ending === 403 ? "failed" : isServing(error);
}

function wordsFor(operation: Operation, { failures, since, cause: { ending } }: Failing): string {
  const what = typeof ending === "number" ? `answers HTTP ${ending}` : WORDS[ending];
  return `the facilitator ${what} to ${operation}, ${failures} times in a row since ${new Date(since).toISOString()}`;
}

const WORDS = {
  unreachable: "gives no answer",
  late: "gives no answer in time",
  "too long": "gives an endless answer",
  unreadable: "gives an answer that cannot be read",
};
