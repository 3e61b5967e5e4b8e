import type { PaymentPayload } from "@x402/core/types";
import type { Logger } from "pino";
import { type Clock, deadline } from "../clock.ts";
import { hasCode } from "../errors.ts";
import type { Match } from "./match.ts";

/** `facilitator`: the id of the facilitator that calls the payment valid. */
export type Verdict = { valid: true; facilitator: string } | { valid: false; reason: string };

/**
 * Asks the facilitators that may settle a payment to verify it, one after the other, until one says that it is valid.
 * @param payment from `forwardedPayment`
 * @param options.limitMs the time that `signal` leaves for all of them
 * @returns the first verdict that is valid; if none is, the first verdict
 * @throws facilitator_failed of the last one when none gives a verdict; the signal's reason
 */
export async function verifyPayment(
  payment: PaymentPayload,
  { requirement, settlers }: Match,
  { signal, limitMs, clock, log }: { signal: AbortSignal; limitMs: number; clock: Clock; log: Logger },
): Promise<Verdict> {
  let refused: Verdict | undefined;
  for (const [i, { id, facilitator }] of settlers.entries()) {
    const isLast = i === settlers.length - 1;
    // One that hangs must leave time for the next one.
    const ends = isLast ? signal : deadline(clock, limitMs / (2 * settlers.length), signal);
    try {
      const answer = await facilitator.verify(payment, requirement, ends);
      if (answer.valid) return { valid: true, facilitator: id };
      refused ??= answer;
      if (!isLast)
        log.info({ facilitator: id, reason: answer.reason }, "another facilitator is asked about a refused payment");
    } catch (error) {
      if (signal.aborted || !hasCode(error, "facilitator_failed") || (isLast && !refused)) throw error;
      log.warn(
        { facilitator: id, err: error },
        isLast ? "no other facilitator answers" : "another facilitator is asked to verify",
      );
    }
  }
  if (!refused) throw new TypeError("an offer has at least one facilitator");
  return refused;
}
