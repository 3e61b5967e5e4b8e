import { excerpt } from "@attestd/proof/text";
import type { PaymentRequirements, PaymentRequired as X402PaymentRequired } from "@x402/core/types";
import { Problem } from "../lib/problems.ts";
import { DECLARED_EXTENSIONS } from "../payment/identifier.ts";
import type { Offers } from "../payment/offers.ts";
import type { PaymentOption } from "../payment/payment-option.ts";
import { type Resource, resourceInfo } from "../payment/resource.ts";
import type { Sale } from "../payment/sale.ts";
import { saleOf } from "../subjects/subject.ts";
import type { Bundles, DeliveredText } from "./bundles.ts";
import type { Call } from "./call.ts";
import type { Journal } from "./journal.ts";
import { pending } from "./problems.ts";

/** The outcome of a paid request, which each transport formats in its own way. */
export type Outcome = Delivered | PaymentRequired | { kind: "problem"; problem: Problem };

export type Delivered = {
  kind: "delivered";
  /** The bundle, the same bytes in every answer. */
  body: DeliveredText;
  /** The value of PAYMENT-RESPONSE. */
  receipt: string;
};

/** No payment was taken. It is safe to sign a new one, unless `error` says that this one may still be taken. */
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

/** Returns the status that HTTP gives an outcome. */
export function statusOf(outcome: Outcome): number {
  if (outcome.kind === "problem") return outcome.problem.status;
  return outcome.kind === "delivered" ? 200 : 402;
}

/**
 * Makes the demand for a payment, with the offers for a sale.
 * @param error why the payment of the request was not taken
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

/** The limit of a reason, in characters: it may quote the facilitator or the payer, and must fit into a header. */
const MAX_REASON_LENGTH = 500;

/** Converts a demand for payment to x402's form (v2, PaymentRequired), the same on every transport. */
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
 * Returns the outcome of a call, from its row alone: the problem `settlement_pending` or `attestation_pending` while it is
 * not final, and `payment_refunded` after a refund.
 *
 * @throws Problem as `paymentRequired`, for a void call
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
      return unanswered(new Problem("payment_refunded", "The operator gave this payment back."));
    case "settling":
      return unanswered(pending("settlement_pending", settling(call, offers)));
    default:
      return unanswered(
        pending("attestation_pending", "The payment was made; the attestation is not on the ledger yet."),
      );
  }
}

/** Returns the outcome of a request that a problem answers. */
export function unanswered(problem: Problem): Outcome {
  return { kind: "problem", problem };
}

function settling({ rail }: Call, offers: Offers): string {
  const closure = offers.closure(rail);
  if (closure === undefined) return "The payment is being settled.";
  return `The payment cannot be made on ${rail} now: ${closure}. It can still be made until it expires.`;
}

/** @throws Error when the call has no bundle, which is a defect */
function delivered({ key, bundle, receipt }: Call, bundles: Pick<Bundles, "of">): Delivered {
  if (!bundle || receipt === undefined) throw new Error(`the delivered call of ${key} has no bundle`);
  return { kind: "delivered", body: bundles.of(bundle), receipt };
}

/**
 * Finds the outcome of the purchase that a transport has named (`Purchase`).
 * @returns undefined if no purchase has the name
 * @throws Problem as `outcomeOf`
 */
export type Recall = (name: string) => Promise<Outcome | undefined>;

export function createRecall(journal: Pick<Journal, "find">, offers: Offers, bundles: Pick<Bundles, "of">): Recall {
  return async (name) => {
    const call = await journal.find(name);
    return call && outcomeOf(call, offers, bundles);
  };
}
