import type { z } from "zod";
import { type Admit, paymentRequired } from "../calls/admit.ts";
import type { Endpoint } from "../catalogue.ts";
import { decodePaymentHeader, PaymentMalformed } from "../payment/header.ts";
import type { Offers } from "../payment/offers.ts";
import { Problem } from "../problems.ts";
import { UnfitRequest } from "../subjects/request.ts";
import type { Subject } from "../subjects/subject.ts";
import { type HttpContext, invalid, parseBody, readBody, requireJson, validate } from "./body.ts";
import { outcomeResponse } from "./respond.ts";

export type PaidRoute<T> = {
  endpoint: Endpoint & { body: { schema: z.ZodType<T>; maxBytes: number } };
  /** Normalises a body that fits the schema. @throws UnfitRequest */
  subject: (body: T) => Subject;
  admit: Admit;
  offers: Offers;
  origin: () => string;
};

/** A paid route: reads the request as far as it can without asking anyone, and leaves the rest to `admit`. */
export function paidRoute<T>({ endpoint, subject, admit, offers, origin }: PaidRoute<T>) {
  const resource = { path: endpoint.path, description: endpoint.summary };

  return async (c: HttpContext): Promise<Response> => {
    const header = c.req.header("payment-signature");
    const bytes = await readBody(c, endpoint.body.maxBytes);
    if (bytes.length === 0) {
      if (header !== undefined)
        throw new Problem("payment_without_body", "There is a PAYMENT-SIGNATURE and no body to buy with it.");
      // A crawler's probe: it wants to see what this route costs (x402 discovery).
      return outcomeResponse(c, paymentRequired(offers, undefined), resource, origin());
    }
    requireJson(c);
    const body = validate(endpoint.body.schema, parseBody(bytes));
    const wanted = fit(() => subject(body));
    const payload = header === undefined ? undefined : decoded(header);
    return outcomeResponse(c, await admit(wanted, payload), resource, origin());
  };
}

function fit(subject: () => Subject): Subject {
  try {
    return subject();
  } catch (error) {
    if (error instanceof UnfitRequest) throw invalid([{ pointer: `/${error.member}`, detail: error.message }]);
    throw error;
  }
}

function decoded(header: string) {
  try {
    return decodePaymentHeader(header);
  } catch (error) {
    if (error instanceof PaymentMalformed) throw new Problem("payment_malformed", error.message);
    throw error;
  }
}
