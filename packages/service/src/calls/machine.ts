import type { SealedBundle } from "../attestor/attestor.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { ServiceError } from "../lib/errors.ts";
import {
  type Call,
  type CallAttempt,
  type CallRequest,
  type CallState,
  liveAttempt,
  type PaymentProof,
  payloadSha256,
} from "./call.ts";

/** What happened to a call. Each event is committed before anything that follows from it leaves the process. */
export type CallEvent =
  /** A settlement is about to leave the process for a facilitator; without one, the settings name none that may settle it. */
  | { type: "settlement_begun"; facilitator?: string }
  /** The payment was seen on its chain, to the depth that counts as paid. */
  | { type: "payment_proved"; proof: PaymentProof; receipt: string }
  /** The payment can never be spent on us any more. */
  | { type: "payment_void"; reason: string; receipt: string }
  /** The bytes of an attestation transaction are fixed. */
  | { type: "attestation_signed"; attempt: Attempt }
  /** The live attempt can never be confirmed; another may be signed. */
  | { type: "attestation_dead"; txid: string }
  /** The ledger does not take the attestation now, through no fault of the payer. */
  | { type: "attestation_blocked"; reason: string }
  | { type: "attestation_confirmed"; txid: string; round: number }
  /** The bytes of the bundle and of the signed receipt are fixed. */
  | { type: "bundle_sealed"; bundle: SealedBundle; receipt: string }
  /** The payment of a delivered call, as its chain shows it now. */
  | { type: "payment_seen_again"; proof: PaymentProof }
  /** The payment of a delivered call has vanished from its chain, and can never be spent on us any more. */
  | { type: "payment_lost"; reason: string }
  /**
   * The operator bound a payment that the journal had lost to a request. `attempt` is the attestation of it that is on the
   * ledger already, so that no other is ever signed.
   */
  | { type: "payment_adopted"; proof: PaymentProof; receipt: string; attempt?: Attempt }
  /** The operator paid the payment back, by a transfer of its own. */
  | { type: "payment_refunded"; transaction: string; refund: string };

/** What to do next for a call in its present state. */
export type Effect =
  /** Ask the facilitator that the row names to settle. */
  | { do: "settle" }
  /** Look for the payment on its chain; begin another settlement only while it is neither there nor void. */
  | { do: "reconcile" }
  | { do: "sign" }
  | { do: "submit"; attempt: Attempt }
  | { do: "seal"; attempt: Attempt }
  /** Look whether the payment of a delivered call has become final; settle it again if it has vanished. */
  | { do: "watch" }
  | { do: "nothing" };

/**
 * A call as it is first committed: with its first settlement begun, which names the facilitator, so that nothing need be
 * committed before that settlement is sent. An adopted payment names none, and is settled already.
 */
export function beginCall(request: CallRequest): Call {
  const settlements = request.facilitator === undefined ? 0 : 1;
  const sha256 = payloadSha256(request.payload);
  return { ...request, payloadSha256: sha256, state: "settling", version: 1, settlements, attempts: [] };
}

/** Whether the request can be answered: no later effect changes the answer. */
export function isFinal(state: CallState): boolean {
  return state === "done" || state === "void" || state === "refunded" || state === "loss";
}

/** Whether the payment is still only promised. */
export function isUnpaid(state: CallState): boolean {
  return state === "settling";
}

/** Whether nothing further is ever done for the call. A delivered one rests once its payment is final. */
export function isAtRest({ state, proof }: Call): boolean {
  return state === "done" ? proof?.final === true : isFinal(state);
}

/**
 * Returns the next effect.
 *
 * @param isUnsent whether it is known that the last settlement which the row counts was not sent: in the loop that
 *   committed it, and nowhere else
 */
export function nextEffect(call: Call, isUnsent = false): Effect {
  const attempt = liveAttempt(call);
  switch (call.state) {
    case "settling":
      return { do: isUnsent ? "settle" : "reconcile" };
    case "paid":
    case "signed":
    case "owed":
      return attempt ? { do: "submit", attempt } : { do: "sign" };
    case "confirmed":
      if (!attempt) throw new Error(`the confirmed call of ${call.key} has no attempt`);
      return { do: "seal", attempt };
    case "done":
      return isAtRest(call) ? { do: "nothing" } : { do: "watch" };
    case "void":
    case "refunded":
    case "loss":
      return { do: "nothing" };
  }
}

/**
 * Applies an event.
 *
 * @returns the call after the event. Its version is raised by one, to be committed, unless the event is deferred
 * @throws transition_illegal when the state does not allow the event
 */
export function reduce(call: Call, event: CallEvent): Call {
  const next = transition(call, event);
  if (!next) throw new ServiceError("transition_illegal", `a call in state ${call.state} cannot take ${event.type}`);
  const isOver = next.state !== undefined && isFinal(next.state);
  const after = { ...call, ...next, ...(isOver && { evidence: undefined }) };
  return isDeferred(event) ? after : toCommit(after);
}

/**
 * Whether an event is committed together with the next one. A chain shows it, so that a crash before that commit loses
 * nothing. All that leaves the process because of it is a signature, which is committed first.
 */
export function isDeferred({ type }: CallEvent): boolean {
  return type === "payment_proved" || type === "attestation_confirmed";
}

/** A call as its next commit has it: with the next version. */
export function toCommit(call: Call): Call {
  return { ...call, version: call.version + 1 };
}

/** An attestation transaction whose bytes the ledger has, or that can never be there. */
export function withoutBytes(attempt: CallAttempt): CallAttempt {
  return { ...attempt, raw: new Uint8Array() };
}

function transition(call: Call, event: CallEvent): Partial<Call> | undefined {
  const { state } = call;
  const live = liveAttempt(call);
  switch (event.type) {
    case "settlement_begun":
      if (state !== "settling") return undefined;
      return {
        settlements: call.settlements + 1,
        ...(event.facilitator !== undefined && { facilitator: event.facilitator }),
      };
    case "payment_proved":
      if (state !== "settling") return undefined;
      return { state: "paid", proof: event.proof, receipt: event.receipt };
    case "payment_void":
      if (state !== "settling") return undefined;
      return { state: "void", reason: event.reason, receipt: event.receipt };
    case "attestation_signed":
      // A second live attempt could be confirmed beside the first: one payment, two attestations.
      if ((state !== "paid" && state !== "owed") || live) return undefined;
      return { state: "signed", attempts: [...call.attempts, { ...event.attempt, dead: false }] };
    case "attestation_dead":
      if ((state !== "signed" && state !== "owed") || live?.txid !== event.txid) return undefined;
      return { state: "paid", attempts: [...call.attempts.slice(0, -1), { ...live, dead: true }] };
    case "attestation_blocked":
      if (state !== "paid" && state !== "signed" && state !== "owed") return undefined;
      return { state: "owed", reason: event.reason };
    case "attestation_confirmed":
      if ((state !== "signed" && state !== "owed") || live?.txid !== event.txid) return undefined;
      return { state: "confirmed", round: event.round };
    case "bundle_sealed":
      if (state !== "confirmed") return undefined;
      return { state: "done", bundle: event.bundle, receipt: event.receipt, attempts: call.attempts.map(withoutBytes) };
    case "payment_seen_again":
      if (state !== "done" || call.proof?.final) return undefined;
      return { proof: event.proof };
    case "payment_lost":
      if (state !== "done" || call.proof?.final) return undefined;
      return { state: "loss", reason: event.reason };
    case "payment_adopted": {
      if (state !== "settling") return undefined;
      const { proof, receipt, attempt } = event;
      return attempt
        ? { state: "signed", proof, receipt, attempts: [{ ...attempt, dead: false }] }
        : { state: "paid", proof, receipt };
    }
    case "payment_refunded":
      // A live attempt may still be confirmed: the payment would be both refunded and attested.
      if (state !== "owed" || live) return undefined;
      return { state: "refunded", refund: event.refund, reason: `given back in ${event.transaction}` };
  }
}
