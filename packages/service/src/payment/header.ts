import { parseJson } from "@attestd/proof";
import { fromBase64 } from "@attestd/proof/encoding";
import { isObject, type JsonValue } from "@attestd/proof/json";
import type { PaymentPayload } from "@x402/core/types";
import { REQUEST_LIMITS } from "../catalogue/input.ts";
import { Problem } from "../lib/problems.ts";

/**
 * Decodes the value of a PAYMENT-SIGNATURE header (x402 v2, HTTP transport).
 *
 * @param value standard base64 of JSON
 * @throws Problem `payment_malformed`
 */
export function decodePaymentHeader(value: string): PaymentPayload {
  let json: JsonValue;
  try {
    json = parseJson(fromBase64(value), REQUEST_LIMITS);
  } catch {
    throw malformed("PAYMENT-SIGNATURE is not standard base64 of JSON.");
  }
  return toPaymentPayload(json);
}

/**
 * Checks a decoded payment, as MCP and A2A carry it. Unknown members are kept, because x402 may define them.
 * @throws Problem `payment_malformed` when one of the three members that every version 2 payload has is missing
 */
export function toPaymentPayload(json: JsonValue): PaymentPayload {
  if (!isObject(json)) throw malformed("The payment is not a JSON object.");
  const { x402Version, accepted, payload } = json;
  if (typeof x402Version !== "number") throw malformed("The payment's x402Version is not a number.");
  if (!isObject(accepted)) throw malformed("The payment's accepted is not an object.");
  if (!isObject(payload)) throw malformed("The payment's payload is not an object.");
  return json as unknown as PaymentPayload;
}

/** Encodes the value of a payment header: standard base64 of JSON. */
export function encodeHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}

function malformed(detail: string): Problem {
  return new Problem("payment_malformed", detail);
}
