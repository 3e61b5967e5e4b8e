import { excerpt } from "@attestd/proof/text";
import type { PaymentRequirements, PaymentRequired as X402PaymentRequired } from "@x402/core/types";
import { DECLARED_EXTENSIONS } from "../payment/identifier.ts";
import type { Offers } from "../payment/offers.ts";
import type { PaymentOption } from "../payment/payment-option.ts";
import { type Resource, resourceInfo } from "../payment/resource.ts";
import type { Sale } from "../payment/sale.ts";
import { Problem } from "../problems.ts";
import { saleOf } from "../subjects/subject.ts";
import type { Bundles, DeliveredText } from "./bundles.ts";
import type { Call } from "./call.ts";
import type { Journal } from "./journal.ts";
import { pending } from "./problems.ts";

/** The outcome of a paid request, which each transport formats in its own way. Everything else is a thrown Problem. */
export type Outcome = Delivered | PaymentRequired;

export type Delivered = {
  kind: "delivered";
  /** The bundle, the same bytes in every answer. */
  body: DeliveredText;
  /** The value of PAYMENT-RESPONSE. */
  receipt: string;
};

/** No payment was taken: it is safe to sign a new one, unless `error` says that this one may still be taken. */
export type PaymentRequired = {
  kind: "payment_required";
  /** Why the payment of the request was not taken. */
  error?: string;
  accepts: PaymentRequirements[];
  /** The same offers in the interface's own fields. */
  options: PaymentOption[];
  /** How the price of a batch comes about, in words. */
  reckoning?: string;
  extensions: Record<string, unknown>;
  /** PAYMENT-RESPONSE of a settlement that failed. */
  receipt?: string;
};

/** The status that HTTP gives an outcome. */
export function statusOf({ kind }: Outcome): number {
  return kind === "delivered" ? 200 : 402;
}

/**
 * The offers for a sale.
 *
 * @throws Problem `facilitator_unavailable` when nothing can be offered now
 */
export function paymentRequired(offers: Offers, sale: Sale, error?: string): PaymentRequired {
  const accepts = offers.for(sale);
  const reckoning = offers.reckoning(sale);
  if (accepts.length === 0)
    throw new Problem("facilitator_unavailable", "Nothing can be sold for this source now.", { retryAfter: 30 });
  return {
    kind: "payment_required",
    accepts,
    options: offers.optionsFor(sale),
    extensions: DECLARED_EXTENSIONS,
    ...(reckoning !== undefined && { reckoning }),
    ...(error !== undefined && { error }),
  };
}

/** Characters of a reason, which may quote the facilitator or the payer: it must fit into a header. */
const MAX_REASON_LENGTH = 500;

/** A demand for payment in x402's own terms (v2, PaymentRequired), the same on every transport. */
export function x402PaymentRequired(
  { error, accepts, reckoning, extensions }: PaymentRequired,
  resource: Resource,
): X402PaymentRequired {
  const description = [resource.description, reckoning].filter(Boolean).join(". ");
  return {
    x402Version: 2,
    ...(error !== undefined && { error: excerpt(error, MAX_REASON_LENGTH) }),
    resource: resourceInfo({ ...resource, description }),
    accepts,
    extensions: { ...extensions, ...resource.extensions },
  };
}

/**
 * The outcome of a call, from its row alone.
 *
 * @throws Problem `payment_refunded`; `settlement_pending` or `attestation_pending` of a call that is not final; of a void
 *   call as `paymentRequired`
 */
export function outcomeOf(call: Call, offers: Offers, bundles: Pick<Bundles, "of">): Outcome {
  switch (call.state) {
    case "done":
    case "loss":
      return delivered(call, bundles);
    case "void":
      return {
        ...paymentRequired(offers, saleOf(call.subject), call.reason),
        ...(call.receipt && { receipt: call.receipt }),
      };
    case "refunded":
      throw new Problem("payment_refunded", "The operator gave this payment back.");
    case "settling":
      throw pending("settlement_pending", settling(call, offers));
    default:
      throw pending("attestation_pending", "The payment was made; the attestation is not on the ledger yet.");
  }
}

function settling({ rail }: Call, offers: Offers): string {
  const closure = offers.closure(rail);
  if (closure === undefined) return "The payment is being settled.";
  return `The payment cannot be made on ${rail} now: ${closure}. It can still be made until it expires.`;
}

/** @throws Error when the call has no bundle: a defect of ours */
function delivered({ key, bundle, receipt }: Call, bundles: Pick<Bundles, "of">): Delivered {
  if (!bundle || receipt === undefined) throw new Error(`the delivered call of ${key} has no bundle`);
  return { kind: "delivered", body: bundles.of(bundle), receipt };
}

/**
 * Finds the outcome of the purchase that a transport has named (`Purchase`).
 *
 * @returns undefined when no purchase has the name
 * @throws Problem as `outcomeOf`
 */
export type Recall = (name: string) => Promise<Outcome | undefined>;

export function createRecall(journal: Pick<Journal, "find">, offers: Offers, bundles: Pick<Bundles, "of">): Recall {
  return async (name) => {
    const call = await journal.find(name);
    return call && outcomeOf(call, offers, bundles);
  };
}
