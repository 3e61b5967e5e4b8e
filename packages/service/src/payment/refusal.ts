import { hasCode } from "../lib/errors.ts";
import type { FacilitatorError } from "./facilitator.ts";

/** Why a payment is not taken. */
export class Refusal {
  /** The `error` of a 402. It never reveals chain state. */
  readonly reason: string;
  /** Whether none of our own checks refuses the payment, so that a facilitator could still settle it. */
  readonly byFacilitator: boolean;
  /** Why no facilitator judged the payment. It is then answered instead of a 402: the payment may be sent again. */
  readonly failure: FacilitatorError | undefined;

  constructor(
    reason: string,
    { byFacilitator = false, failure }: { byFacilitator?: boolean; failure?: FacilitatorError } = {},
  ) {
    this.reason = reason;
    this.byFacilitator = byFacilitator;
    this.failure = failure;
  }
}

/** Runs a check of a rail, which throws `payment_refused`. @returns what it returns, or its refusal as a value */
export async function judged<T>(check: () => T | Promise<T>): Promise<T | Refusal> {
  try {
    return await check();
  } catch (error) {
    if (!hasCode(error, "payment_refused")) throw error;
    return new Refusal(error.message);
  }
}
