import { isSourceError } from "../chains/chain.ts";
import { hasCode } from "../errors.ts";
import { Problem, saysUncharged } from "../problems.ts";
import { isProviderError } from "../providers/provider.ts";

/** Member of a problem while money may have moved: the client may send the same header again, and MUST NOT sign anew. */
export const SAME_HEADER = { retry: { sameHeader: true } };

/** Of a call that is paid or being paid, and not delivered yet: the same header, sent again later, gets the bundle. */
export function pending(code: "settlement_pending" | "attestation_pending", detail: string): Problem {
  return new Problem(code, `${detail} Do not sign again.`, { retryAfter: 5, members: SAME_HEADER });
}

/** It is not known whether the payment is spent on us, or may be. */
export function paymentUnknown(detail: string, cause: unknown): Problem {
  return new Problem("payment_unknown", detail, { retryAfter: 10, members: SAME_HEADER, cause });
}

/** What is answered to a payment that may have been made. @returns `payment_unknown` for a problem that says nothing was charged */
export function inDoubt(error: unknown): unknown {
  if (!(error instanceof Problem) || !saysUncharged(error.code)) return error;
  return paymentUnknown(`The payment may have been made, and that cannot be looked up now (${error.code}).`, error);
}

/** Maps errors of upstreams, asked before anything is charged, to problems. @throws Problem; other errors as they are */
export async function mapUpstreamErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSourceError(error))
      throw new Problem(error.code === "source_unreadable" ? "providers_conflict" : error.code, error.message, {
        ...(error.code === "source_unreadable" && { retryAfter: 30 }),
        ...(hasCode(error, "source_inner_transaction") && { members: error.details }),
      });
    if (isProviderError(error))
      throw new Problem(error.code, "The chain cannot be read now.", { retryAfter: 10, cause: error });
    if (hasCode(error, "rail_closed"))
      throw new Problem("facilitator_unavailable", error.message, { retryAfter: 10, cause: error });
    if (hasCode(error, "facilitator_failed"))
      throw new Problem("facilitator_unavailable", "The facilitator cannot be reached now.", {
        retryAfter: Math.max(10, Math.ceil((error.details.retryAfterMs ?? 0) / 1000)),
        cause: error,
      });
    throw error;
  }
}
