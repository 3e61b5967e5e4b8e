import { SourceError } from "../chains/chain.ts";
import { FacilitatorError } from "../payment/facilitator.ts";
import { PaymentRefused } from "../payment/rails/rail.ts";
import { Problem } from "../problems.ts";
import { ProviderError } from "../providers/provider.ts";

/** Tells a client that money may have moved: the same header may be sent again, and no new one signed. */
export const SAME_HEADER = { retry: { sameHeader: true } };

/** Paid or being paid, and not delivered yet: the same header again, later, brings the bundle. */
export function pending(code: "settlement_pending" | "attestation_pending", detail: string): Problem {
  return new Problem(code, `${detail} Do not sign again.`, { retryAfter: 5, members: SAME_HEADER });
}

/** Runs a check. @returns what it gives, or the refusal that it throws */
export function refusable<T>(work: () => T): T | PaymentRefused {
  try {
    return work();
  } catch (error) {
    return refusal(error);
  }
}

/** @throws whatever is not a refusal of the payment */
export function refusal(error: unknown): PaymentRefused {
  if (error instanceof PaymentRefused) return error;
  throw error;
}

/** Words the failures of those whom we ask before anything is charged. */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceError)
      throw new Problem(error.code === "source_unreadable" ? "providers_conflict" : error.code, error.message, {
        ...(error.code === "source_unreadable" && { retryAfter: 30 }),
        ...(error.rootId && { members: { rootId: error.rootId } }),
      });
    if (error instanceof ProviderError)
      throw new Problem(error.code, "The chain cannot be read now.", { retryAfter: 10, cause: error });
    if (error instanceof FacilitatorError)
      throw new Problem("facilitator_unavailable", "The facilitator cannot be reached now.", {
        retryAfter: 10,
        cause: error,
      });
    throw error;
  }
}
