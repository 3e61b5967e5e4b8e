import { hasCode } from "../lib/errors.ts";

/** Why a payment is not taken. */
export class Refusal {
  /** The `error` of a 402. It never reveals chain state. */
  readonly reason: string;
  /** Whether none of our own checks refuses the payment, so that a facilitator could still settle it. */
  readonly byFacilitator: boolean;

  constructor(reason: string, { byFacilitator = false } = {}) {
    this.reason = reason;
    this.byFacilitator = byFacilitator;
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
