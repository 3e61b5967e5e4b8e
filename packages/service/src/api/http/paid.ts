import type { PaymentPayload } from "@x402/core/types";
import type { LongText } from "../../calls/bundles.ts";
import { type PaymentRequired, paymentRequired, x402PaymentRequired } from "../../calls/outcome.ts";
import type { Endpoint } from "../../catalogue/catalogue.ts";
import { parseInput, requireJson } from "../../catalogue/input.ts";
import { Problem } from "../../lib/problems.ts";
import { decodePaymentHeader, encodeHeader } from "../../payment/header.ts";
import type { Offers } from "../../payment/offers.ts";
import { type Resource, resourceOf } from "../../payment/resource.ts";
import type { Sale } from "../../payment/sale.ts";
import { type Answer, json } from "../endpoints/answer.ts";
import { readBody } from "../endpoints/body.ts";
import type { PaidOperation } from "../endpoints/operations.ts";
import { streamOf } from "../endpoints/text.ts";
import type { Handler, TransportOptions } from "../endpoints/transport.ts";
import { type CompleteAnswer, complete } from "./cors.ts";
import { createDeliveredCache, requestName } from "./delivered.ts";

/** The media type of JSON values, one per line. */
const NDJSON = "application/x-ndjson";

export type PaidOptions = Pick<TransportOptions, "admit" | "offers" | "origin">;

/** Makes the handler of a paid route. It makes all checks that need no upstream, then passes the payment to `admit`. */
export function paidHandler(
  endpoint: Endpoint,
  operation: PaidOperation,
  { admit, offers, origin }: PaidOptions,
): Handler {
  const maxBytes = endpoint.body?.maxBytes ?? 0;
  const resource = resourceOf(endpoint, origin);
  const delivered = createDeliveredCache();
  /** The 402 answers to requests without a payment, by their offers. */
  const prices = new WeakMap<ReturnType<Offers["for"]>, CompleteAnswer>();

  // Not `async`: this saves a promise for each answer that needs no upstream.
  return (incoming) => {
    const { "payment-signature": header, accept } = incoming.headers;
    return readBody(incoming, maxBytes).then((bytes) => {
      // A crawler asks for the price this way (x402 discovery).
      if (bytes.length === 0 && header === undefined) return price(operation.probe);
      if (bytes.length === 0)
        throw new Problem("payment_without_body", "The request has a PAYMENT-SIGNATURE and no body.");
      requireJson(incoming.headers);
      if (header === undefined) return price(operation.sale(parseInput(bytes)));
      return paid(String(header), bytes, endpoint.isBatch === true && wantsLines(accept));
    });
  };

  function price(sale: Sale): Answer {
    return prices.getOrInsertComputed(offers.for(sale), () =>
      complete(demand(paymentRequired(offers, sale), resource)),
    );
  }

  function paid(header: string, bytes: Uint8Array, isInLines: boolean): CompleteAnswer | Promise<CompleteAnswer> {
    const request = requestName(header, bytes);
    return delivered.find(request) ?? buy(request, bytes, decodePaymentHeader(header), isInLines);
  }

  async function buy(
    request: string,
    bytes: Uint8Array,
    payment: PaymentPayload,
    isInLines: boolean,
  ): Promise<CompleteAnswer> {
    const outcome = await admit(operation.subject(parseInput(bytes)), payment);
    if (outcome.kind === "problem") throw outcome.problem;
    if (outcome.kind === "payment_required") return complete(demand(outcome, resource));
    const { body, receipt } = outcome;
    if (typeof body !== "string") return complete(await streamed(body, receipt, isInLines));
    const answer = complete(json(200, body, { "payment-response": receipt }));
    delivered.keep(request, answer);
    return answer;
  }
}

/**
 * Answers with a text that is read while it is sent. @param isInLines whether each item of a batch comes with its head
 */
async function streamed({ bytes, pieces, items }: LongText, receipt: string, isInLines: boolean): Promise<Answer> {
  const { status, headers } = json(200, "", { "payment-response": receipt });
  if (items && isInLines) {
    const body = await streamOf(asLines(items()));
    return { status, headers: { ...headers, "content-type": NDJSON, vary: "accept" }, body };
  }
  return { status, headers: { ...headers, "content-length": String(bytes) }, body: await streamOf(pieces()) };
}

/** Makes a 402 (x402 v2, HTTP transport), with PAYMENT-RESPONSE if a settlement failed. */
function demand(outcome: PaymentRequired, resource: Resource): Answer {
  const { options, receipt } = outcome;
  const required = x402PaymentRequired(outcome, resource);
  return json(402, JSON.stringify({ ...required, options }), {
    "payment-required": encodeHeader(required),
    ...(receipt !== undefined && { "payment-response": receipt }),
  });
}

/** Whether a request asks for lines: Accept names them before JSON, or without JSON. */
function wantsLines(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const types = accept.split(",").map((one) => one.split(";", 1)[0]?.trim().toLowerCase());
  const [lines, json] = [types.indexOf(NDJSON), types.indexOf("application/json")];
  return lines !== -1 && (json === -1 || lines < json);
}

/** Yields texts as lines. */
async function* asLines(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  for await (const text of texts) yield `${text}\n`;
}
