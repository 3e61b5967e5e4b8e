import type { Attempt } from "../../ledger/ledger.ts";
import { type Call, liveAttempt, type PaymentProof } from "../call.ts";

/** What an operator does to a call. Like the events of machine.ts: committed before anything that follows from it. */
export type OperatorEvent =
  /**
   * A payment that the journal had lost is bound to a request. `attempt` is the attestation that the ledger already
   * holds for it, so that no other one is ever signed.
   */
  | { type: "payment_adopted"; proof: PaymentProof; receipt: string; attempt?: Attempt }
  /** The payment was given back. */
  | { type: "payment_refunded"; transaction: string };

/** The call stands where the operator may not do that. */
export class NotForOperator extends Error {
  constructor({ key, state }: Call, event: OperatorEvent["type"]) {
    super(`the call of ${key} is ${state}, which does not take ${event}`);
    this.name = "NotForOperator";
  }
}

/**
 * Applies an operator's event.
 *
 * @returns the call after the event, its version raised by one
 * @throws NotForOperator when the state does not allow it
 */
export function reduceByOperator(call: Call, event: OperatorEvent): Call {
  const next = transition(call, event);
  if (!next) throw new NotForOperator(call, event.type);
  return { ...call, ...next, version: call.version + 1 };
}

function transition(call: Call, event: OperatorEvent): Partial<Call> | undefined {
  const { state } = call;
  switch (event.type) {
    case "payment_adopted": {
      // Also from `settling`: a service that found the row before its adoption was whole may have begun to settle it.
      if (state !== "prepared" && state !== "settling") return undefined;
      const { proof, receipt, attempt } = event;
      return attempt
        ? { state: "signed", proof, receipt, attempts: [{ ...attempt, dead: false }] }
        : { state: "paid", proof, receipt };
    }
    case "payment_refunded":
      // A live attempt may still be confirmed: given back, and attested for all the same.
      if (state !== "owed" || liveAttempt(call)) return undefined;
      return { state: "refunded", reason: `given back in ${event.transaction}` };
  }
}
