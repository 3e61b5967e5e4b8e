import { Problem, problemFor, SAME_HEADER, saysUncharged } from "../lib/problems.ts";
import type { FacilitatorError } from "../payment/facilitator.ts";

/** The answer to a call that is paid or being paid, and not delivered yet: the same header, repeated later, gets the bundle. */
export function pending(code: "settlement_pending" | "attestation_pending", detail: string): Problem {
  return new Problem(code, `${detail} Do not sign again.`, { retryAfter: 5, members: SAME_HEADER });
}

/** The answer when it is not known whether the payment was, or may be, spent on us. */
export function paymentUnknown(detail: string, cause?: unknown): Problem {
  return new Problem("payment_unknown", detail, { retryAfter: 10, members: SAME_HEADER, cause });
}

/** Returns the answer to a payment that may have been made: `payment_unknown` for a problem that says nothing was charged. */
export function inDoubt(problem: Problem): Problem {
  if (!saysUncharged(problem.code)) return problem;
  return paymentUnknown(`The payment may have been made, and that cannot be looked up now (${problem.code}).`, problem);
}

/** The answer to a payment that was sent to facilitators, and that none of them judged. */
export function unjudged(failure: FacilitatorError): Problem {
  const detail =
    "No facilitator has judged the payment. One may still take it until it expires: send it again before you sign another.";
  const { retryAfter } = problemFor(failure) ?? {};
  const wait = retryAfter === undefined ? {} : { retryAfter };
  return new Problem("facilitator_unavailable", detail, { ...wait, members: SAME_HEADER, cause: failure });
}
