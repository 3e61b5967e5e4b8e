import type { Admit } from "../calls/admit.ts";
import { type Outcome, type PaymentRequired, paymentRequired } from "../calls/outcome.ts";
import { x402PaymentRequired } from "../calls/payment-required.ts";
import type { Endpoint } from "../catalogue/catalogue.ts";
import { parseInput, requireJson } from "../catalogue/input.ts";
import { type Answer, json } from "../endpoints/answer.ts";
import { readBody } from "../endpoints/body.ts";
import type { PaidOperation } from "../endpoints/operations.ts";
import type { Handler } from "../endpoints/route.ts";
import { decodePaymentHeader, encodeHeader } from "../payment/header.ts";
import type { Offers } from "../payment/offers.ts";
import { type Resource, resourceOf } from "../payment/resource.ts";
import { Problem } from "../problems.ts";
import { createDeliveredCache, requestName } from "./delivered.ts";

export type PaidOptions = { admit: Admit; offers: Offers; origin: string };

/** Reads a paid request as far as possible without an upstream, and leaves the rest to `admit`. */
export function paidHandler(
  endpoint: Endpoint,
  operation: PaidOperation,
  { admit, offers, origin }: PaidOptions,
): Handler {
  const { body } = endpoint;
  const delivered = createDeliveredCache();
  const answerTo = outcomeAnswers(resourceOf(endpoint, origin));

  return async (incoming) => {
    const header = incoming.headers["payment-signature"]?.toString();
    const bytes = await readBody(incoming, body?.maxBytes ?? 0);
    if (bytes.length === 0) {
      if (header !== undefined)
        throw new Problem("payment_without_body", "There is a PAYMENT-SIGNATURE and no body to buy with it.");
      // A crawler's probe for the price (x402 discovery).
      return answerTo(paymentRequired(offers, undefined));
    }
    requireJson(incoming.headers["content-type"], incoming.headers["content-encoding"]);
    const request = header === undefined ? undefined : requestName(header, bytes);
    const known = request && delivered.find(request);
    if (known) return answerTo(known);

    const subject = operation.subject(parseInput(bytes));
    const payload = header === undefined ? undefined : decodePaymentHeader(header);
    const outcome = await admit(subject, payload);
    if (request && outcome.kind === "delivered") delivered.keep(request, outcome);
    return answerTo(outcome);
  };
}

/** A 402: its body and PAYMENT-REQUIRED. */
type Demand = { body: string; header: string };

/** Answers with the outcomes of paid requests for a resource (x402 v2, HTTP transport). */
function outcomeAnswers(resource: Resource): (outcome: Outcome) => Answer {
  /** 402s without a reason, which most answers of a paid route are, by their offers. */
  const known = new WeakMap<PaymentRequired["accepts"], Demand>();

  function demandOf(outcome: PaymentRequired): Demand {
    if (outcome.error !== undefined) return demand(outcome, resource);
    const { accepts } = outcome;
    const made = known.get(accepts) ?? demand(outcome, resource);
    known.set(accepts, made);
    return made;
  }

  return (outcome) => {
    if (outcome.kind === "delivered") return json(200, outcome.body, { "payment-response": outcome.receipt });
    const { body, header } = demandOf(outcome);
    return json(402, body, {
      "payment-required": header,
      ...(outcome.receipt !== undefined && { "payment-response": outcome.receipt }),
    });
  };
}

function demand(outcome: PaymentRequired, resource: Resource): Demand {
  const required = x402PaymentRequired(outcome, resource);
  return { body: JSON.stringify({ ...required, options: outcome.options }), header: encodeHeader(required) };
}
