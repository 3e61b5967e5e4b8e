import type { PaymentPayload } from "@x402/core/types";
import type { Logger } from "pino";
import { type Clock, deadline } from "../clock.ts";
import { hasCode } from "../errors.ts";
import type { VerifyAnswer } from "./facilitator.ts";
import type { Match } from "./match.ts";

/**
 * Asks the facilitators that may settle a payment to verify it, one after the other, until one gives a verdict.
 *
 * @param payment as `forwardedPayment` makes it
 * @param options.limitMs the time that `signal` leaves for all of them
 * @returns the verdict, with the id of the facilitator that gave it
 * @throws facilitator_failed of the last one; the signal's reason
 */
export async function verifyPayment(
  payment: PaymentPayload,
  { requirement, settlers }: Match,
  { signal, limitMs, clock, log }: { signal: AbortSignal; limitMs: number; clock: Clock; log: Logger },
): Promise<VerifyAnswer & { facilitator: string }> {
  for (const [i, { id, facilitator }] of settlers.entries()) {
    const isLast = i === settlers.length - 1;
    // One that hangs must leave time to the next one.
    const ends = isLast ? signal : deadline(clock, limitMs / (2 * settlers.length), signal);
    try {
      return { ...(await facilitator.verify(payment, requirement, ends)), facilitator: id };
    } catch (error) {
      if (isLast || signal.aborted || !hasCode(error, "facilitator_failed")) throw error;
      log.warn({ facilitator: id, err: error }, "another facilitator is asked to verify");
    }
  }
  throw new TypeError("an offer has at least one facilitator");
}
