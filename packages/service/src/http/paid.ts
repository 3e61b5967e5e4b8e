import type { Admit } from "../calls/admit.ts";
import { type PaymentRequired, paymentRequired, x402PaymentRequired } from "../calls/outcome.ts";
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
import { complete } from "./cors.ts";
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
  const demand = createDemand(resourceOf(endpoint, origin));

  return async (incoming) => {
    const header = incoming.headers["payment-signature"]?.toString();
    const bytes = await readBody(incoming, body?.maxBytes ?? 0);
    if (bytes.length === 0) {
      if (header !== undefined)
        throw new Problem("payment_without_body", "There is a PAYMENT-SIGNATURE and no body to buy with it.");
      // A crawler's probe for the price (x402 discovery).
      return demand(paymentRequired(offers, undefined));
    }
    requireJson(incoming.headers["content-type"], incoming.headers["content-encoding"]);
    const request = header === undefined ? undefined : requestName(header, bytes);
    const known = request && delivered.find(request);
    if (known) return known;

    const subject = operation.subject(parseInput(bytes));
    const payload = header === undefined ? undefined : decodePaymentHeader(header);
    const outcome = await admit(subject, payload);
    if (outcome.kind === "payment_required") return demand(outcome);
    const answer = complete(json(200, outcome.body, { "payment-response": outcome.receipt }));
    if (request) delivered.keep(request, answer);
    return answer;
  };
}

/** Asks for payment for a resource (x402 v2, HTTP transport). */
function createDemand(resource: Resource): (outcome: PaymentRequired) => Answer {
  /** 402s without a reason, which most answers of a paid route are, by their offers. */
  const known = new WeakMap<PaymentRequired["accepts"], Answer>();

  return (outcome) => {
    const { accepts, error, receipt } = outcome;
    if (error !== undefined || receipt !== undefined) return make(outcome);
    return known.getOrInsertComputed(accepts, () => complete(make(outcome)));
  };

  /** With PAYMENT-RESPONSE where a settlement has failed. */
  function make(outcome: PaymentRequired): Answer {
    const { options, receipt } = outcome;
    const required = x402PaymentRequired(outcome, resource);
    return json(402, JSON.stringify({ ...required, options }), {
      "payment-required": encodeHeader(required),
      ...(receipt !== undefined && { "payment-response": receipt }),
    });
  }
}
