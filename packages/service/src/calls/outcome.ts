import type { PaymentRequirements } from "@x402/core/types";
import type { ChainName } from "../chains/chain.ts";
import { DECLARED_EXTENSIONS } from "../payment/identifier.ts";
import type { InterfaceOption, Offers } from "../payment/offers.ts";
import { Problem } from "../problems.ts";
import { pending } from "./asking.ts";
import type { Call } from "./call.ts";
import type { Journal } from "./journal.ts";

/** What a paid request comes to; each door words it in its own way. Everything else is a thrown Problem. */
export type Outcome = Delivered | PaymentRequired;

export type Delivered = {
  kind: "delivered";
  /** The bundle, byte for byte as before. */
  body: string;
  /** The value of PAYMENT-RESPONSE. */
  receipt: string;
};

/** It is safe to sign a new payment. */
export type PaymentRequired = {
  kind: "payment_required";
  /** Why the payment that came was not taken. */
  error?: string;
  accepts: PaymentRequirements[];
  /** The same offers in the interface's own fields. */
  options: InterfaceOption[];
  extensions: Record<string, unknown>;
  /** PAYMENT-RESPONSE of a settlement that failed. */
  receipt?: string;
};

/**
 * The offers for a source, or every one for a request that names none.
 *
 * @throws Problem `facilitator_unavailable` when nothing can be offered now
 */
export function paymentRequired(offers: Offers, chain: ChainName | undefined, error?: string): PaymentRequired {
  const accepts = offers.for(chain);
  if (accepts.length === 0)
    throw new Problem("facilitator_unavailable", "Nothing can be sold for this source now.", { retryAfter: 30 });
  return {
    kind: "payment_required",
    accepts,
    options: offers.optionsFor(chain),
    extensions: DECLARED_EXTENSIONS,
    ...(error !== undefined && { error }),
  };
}

/**
 * What a call comes to, told from its row alone.
 *
 * @throws Problem `payment_refunded`; as `paymentRequired` of a void call; `settlement_pending` or `attestation_pending` of a call that is not final
 */
export function outcomeOf(call: Call, offers: Offers): Outcome {
  switch (call.state) {
    case "done":
    case "loss":
      return delivered(call);
    case "void":
      return {
        ...paymentRequired(offers, call.subject.chain, call.reason),
        ...(call.receipt && { receipt: call.receipt }),
      };
    case "refunded":
      throw new Problem("payment_refunded", "The operator gave this payment back.");
    case "prepared":
    case "settling":
      throw pending("settlement_pending", "The payment is being settled.");
    default:
      throw pending("attestation_pending", "The payment was made; the attestation is not on the ledger yet.");
  }
}

/** @throws Error when the call has no bundle: a defect of ours */
function delivered({ key, bundle, receipt }: Call): Delivered {
  if (!bundle || receipt === undefined) throw new Error(`the delivered call of ${key} has no bundle`);
  return { kind: "delivered", body: bundle.body, receipt };
}

/**
 * Tells what became of the purchase that a door has named (`Purchase`).
 *
 * @returns undefined when there is none of that name
 * @throws Problem as `outcomeOf`
 */
export type Recall = (name: string) => Promise<Outcome | undefined>;

export function createRecall(journal: Pick<Journal, "find">, offers: Offers): Recall {
  return async (name) => {
    const call = await journal.find(name);
    return call && outcomeOf(call, offers);
  };
}
