import {
  declarePaymentIdentifierExtension,
  extractPaymentIdentifier,
  PAYMENT_IDENTIFIER,
} from "@x402/extensions/payment-identifier";
import type { Payment } from "./rails/rail.ts";

/** What every offer declares beside its options (x402 v2, `extensions`): a payer may name its purchase. */
export const DECLARED_EXTENSIONS = { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(false) };

/**
 * The alias by which a purchase that its payer has named is found again, when the payment itself is another one.
 *
 * The name is the payer's own, so it counts within that payer alone, and only once the payment is known to be signed by
 * it. It stands beside the payment key and never in its place.
 *
 * @param attempt raised by one for every earlier purchase of that name which came to nothing (`void`)
 * @returns undefined when the payment has no well-formed identifier
 */
export function identifierAlias(
  { rail, payer, payload }: Pick<Payment, "rail" | "payer" | "payload">,
  attempt: number,
): string | undefined {
  const id = extractPaymentIdentifier(payload);
  return id === null ? undefined : `payment-identifier/${rail}/${payer.toLowerCase()}/${id}/${attempt}`;
}
