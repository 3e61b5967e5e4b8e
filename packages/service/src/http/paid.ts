import type { Admit } from "../calls/admit.ts";
import { type Outcome, paymentRequired } from "../calls/outcome.ts";
import { type Resource, x402PaymentRequired } from "../calls/payment-required.ts";
import type { Endpoint } from "../catalogue.ts";
import { parseInput } from "../input.ts";
import type { PaidOperation } from "../operations.ts";
import { bazaarExtension } from "../payment/bazaar.ts";
import { decodePaymentHeader, encodeHeader } from "../payment/header.ts";
import type { Offers } from "../payment/offers.ts";
import { Problem } from "../problems.ts";
import { type HttpContext, readBody, requireJson } from "./body.ts";
import { json } from "./respond.ts";
import type { Route } from "./route.ts";

export type PaidRouteOptions = { admit: Admit; offers: Offers; origin: string };

/** A paid route: reads the request as far as it can without asking anyone, and leaves the rest to `admit`. */
export function paidRoute(
  endpoint: Endpoint,
  operation: PaidOperation,
  { admit, offers, origin }: PaidRouteOptions,
): Route {
  const { path, summary, body } = endpoint;
  const resource = { url: `${origin}${path}`, description: summary, extensions: bazaarExtension(endpoint) };

  return async (c) => {
    const header = c.req.header("payment-signature");
    const bytes = await readBody(c, body?.maxBytes ?? 0);
    if (bytes.length === 0) {
      if (header !== undefined)
        throw new Problem("payment_without_body", "There is a PAYMENT-SIGNATURE and no body to buy with it.");
      // A crawler's probe: it wants to see what this route costs (x402 discovery).
      return outcomeResponse(c, paymentRequired(offers, undefined), resource);
    }
    requireJson(c);
    const subject = operation.subject(parseInput(bytes));
    const payload = header === undefined ? undefined : decodePaymentHeader(header);
    return outcomeResponse(c, await admit(subject, payload), resource);
  };
}

/** Words the outcome of a paid request over HTTP (x402 v2, HTTP transport). */
function outcomeResponse(c: HttpContext, outcome: Outcome, resource: Resource): Response {
  if (outcome.kind === "delivered") return json(c, 200, outcome.body, { "payment-response": outcome.receipt });
  const required = x402PaymentRequired(outcome, resource);
  return json(c, 402, JSON.stringify({ ...required, options: outcome.options }), {
    "payment-required": encodeHeader(required),
    ...(outcome.receipt !== undefined && { "payment-response": outcome.receipt }),
  });
}
