import type { PaymentPayload } from "@x402/core/types";
import type { Logger } from "pino";
import type { Deadline } from "../lib/clock.ts";
import { hasCode } from "../lib/errors.ts";
import type { Match } from "./match.ts";
import { Refusal } from "./refusal.ts";

/** Follows a facilitator's reason. */
const STILL_LIVE =
  "; a facilitator says so, and the payment may still be taken until it expires: send it again before you sign another";

/**
 * Asks the facilitators that may settle a payment to verify it, one after the other, until one says that it is valid.
 * @param payment from `forwardedPayment`
 * @param options.limitMs the whole time of the deadline
 * @returns the id of the first facilitator that calls the payment valid; if none does, the first one's refusal; if none
 *   gives a verdict, a refusal with the failure of the last one. Any of them may have kept the payment, to settle it
 * @throws the signal's reason
 */
export async function verifyPayment(
  payment: PaymentPayload,
  { requirement, settlers }: Match,
  { deadline, limitMs, log }: { deadline: Deadline; limitMs: number; log: Logger },
): Promise<{ facilitator: string } | Refusal> {
  let refused: Refusal | undefined;
  for (const [i, { id, facilitator }] of settlers.entries()) {
    const isLast = i === settlers.length - 1;
    const verify = (ends: AbortSignal) => facilitator.verify(payment, requirement, ends);
    try {
      // One that hangs must leave time for the next one.
      const limited = () => deadline.within(limitMs / (2 * settlers.length), verify);
      const answer = await (isLast ? verify(deadline.signal) : limited());
      if (answer.valid) return { facilitator: id };
      refused ??= new Refusal(`${answer.reason}${STILL_LIVE}`, { byFacilitator: true });
      if (!isLast)
        log.info({ facilitator: id, reason: answer.reason }, "another facilitator is asked about a refused payment");
    } catch (error) {
      if (!hasCode(error, "facilitator_failed")) throw error;
      const isEnd = isLast || deadline.signal.aborted;
      if (isEnd && !refused) return new Refusal(error.message, { byFacilitator: true, failure: error });
      log.warn(
        { facilitator: id, err: error },
        isEnd ? "no other facilitator answers" : "another facilitator is asked to verify",
      );
      if (isEnd) break;
    }
  }
  if (!refused) throw new TypeError("an offer has at least one facilitator");
  return refused;
}
