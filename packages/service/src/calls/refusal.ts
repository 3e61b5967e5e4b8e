import type { Logger } from "pino";
import type { Deadline } from "../lib/clock.ts";
import { Problem, problemFor, SAME_HEADER } from "../lib/problems.ts";
import type { Match } from "../payment/match.ts";
import { exactRequirement } from "../payment/payment-option.ts";
import type { AdmissionRail, Payment } from "../payment/rails/rail.ts";
import type { Refusal } from "../payment/refusal.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";
import type { Call, CallRequest } from "./call.ts";
import { bound, boundToOther, type createHolders } from "./holders.ts";
import type { Journal } from "./journal.ts";
import { namesOf } from "./names.ts";
import { paymentUnknown } from "./problems.ts";
import type { RefusedPayment } from "./refused.ts";

/** A paid request whose payment has been read. */
export type Request = {
  subject: Subject;
  rail: AdmissionRail;
  payment: Payment;
  name: string | undefined;
  deadline: Deadline;
};

/** The terms of a call that is about to begin, which its request does not say. */
export type Terms = Pick<CallRequest, "requirement" | "facilitator"> & {
  names: readonly string[];
  /** Whether its chain shows the payment as made: then no settlement is begun, unless a reorganisation undoes it. */
  isMade?: boolean;
};

export type RefusalOptions = {
  journal: Pick<Journal, "find" | "rememberRefused" | "refused">;
  holders: Pick<ReturnType<typeof createHolders>, "findBeforeRefusal">;
  /** Begins the call of a payment. */
  begin(request: Request, terms: Terms): Promise<Call>;
  /** Whether the journal may have lost the call of a payment that it does not know. */
  mayHaveLost(): boolean;
  log: Pick<Logger, "warn" | "error">;
};

/** `maxTimeoutSeconds` of a payment that is made: facilitators do not take 0, should a reorganisation undo it. */
const SETTLED_S = 60;
/** The seconds after which an operator may have bound a payment to its request. */
const RETRY_AFTER = 300;

/** Ends a request whose payment is well signed, and which we could have taken and did not take. */
export function createRefusal({ journal, holders, begin, mayHaveLost, log }: RefusalOptions) {
  /**
   * Refuses a payment, unless its chain shows it as spent on us: then another one must not be asked for. A payment that
   * was refused before, and was made all the same, gets its call.
   *
   * The row is read again after the chain was asked, so that a payment which is settled meanwhile is found in one of
   * them.
   */
  return async function refuse(request: Request, refused: Refusal, match?: Match): Promise<Call | Refusal> {
    const { subject, payment } = request;
    const { key, payer } = payment;
    const spent = await isSpent(request);
    const isLive = !spent && refused.byFacilitator === true;
    // Nodes may be behind: a payment whose call is lost must not be remembered as one that was never attested for.
    const mayBeLost = isLive && mayHaveLost();
    if (isLive && !mayBeLost) await journal.rememberRefused({ key, payer, subjectHash: requestHash(subject) });
    const holder = await holders.findBeforeRefusal(request, true);
    if (holder) return holder;
    if (mayBeLost) throw paymentUnknown("A facilitator refuses the payment, and our journal may have lost its call.");
    if (!spent) return refused;
    const earlier = await journal.refused(key);
    if (earlier) return beginRefused(request, earlier, match);
    log.error({ key, payer }, "payment_unaccounted: paid on chain, not in the journal");
    throw unaccounted("and our journal does not know it.");
  };

  /**
   * Begins the call of a payment that facilitators refused, and that its chain shows as made. While the payment is valid,
   * the row names a facilitator that could settle it again, should a reorganisation undo it.
   * @param match the offer that it fits; undefined if the offer has expired or fits no longer
   * @throws Problem when it was first brought for another subject, or cannot be delivered for now
   */
  async function beginRefused(request: Request, { subjectHash }: RefusedPayment, match?: Match): Promise<Call> {
    const { subject, rail, payment, name } = request;
    const { key, payer, amount, payTo } = payment;
    if (subjectHash !== requestHash(subject)) throw boundToOther();
    log.warn({ key, payer }, "a facilitator refused this payment and it was made all the same");
    const { names, earlier } = await namesOf(journal, payment, name);
    const extra = { ...rail.extra };
    const made = exactRequirement(rail, { amount, payTo, maxTimeoutSeconds: SETTLED_S, extra });
    const { requirement = made, settlers: [{ id } = { id: undefined }] = [] } = match ?? {};
    const facilitator = id === undefined ? {} : { facilitator: id };
    const terms = { requirement, ...facilitator, names: earlier ? [] : names, isMade: true };
    const call = await begin(request, terms).catch((error: unknown) => {
      const problem = problemFor(error);
      // Any other problem says that nothing was charged.
      if (!problem || problem.code === "payment_unknown") throw error;
      throw unaccounted(`and what it is for cannot be delivered now: ${problem.message}`, error);
    });
    return bound(call, request);
  }
}

/** Whether its chain shows a payment as spent on us. @throws Problem `payment_unknown` when that cannot be read */
export async function isSpent({
  rail,
  payment,
  deadline,
}: Pick<Request, "rail" | "payment" | "deadline">): Promise<boolean> {
  return rail.spent(payment, deadline.signal).catch((cause) => {
    throw paymentUnknown("The payment's chain cannot be read now.", cause);
  });
}

function unaccounted(clause: string, cause?: unknown): Problem {
  const options = { retryAfter: RETRY_AFTER, members: SAME_HEADER, cause };
  return new Problem("payment_unaccounted", `The chain shows this payment as made, ${clause}`, options);
}
