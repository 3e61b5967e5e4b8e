import { type Bundle, type PaymentReceipt, verifyPaymentReceipt } from "@attestd/proof";
import type { SettleResponse } from "@x402/core/types";
import type { StoredPayment } from "./vault.ts";

/** The bundle's signer's statement about the payment. `jws` alone proves it to others. */
export type SignedReceipt = { payload: PaymentReceipt; jws: string };

/**
 * Reads the attestor's signed receipt from the settlement (x402 extension `offer-receipt`) and checks that the bundle's
 * key signed it for this payment. Whether the key is trusted is in the bundle's report.
 *
 * @returns undefined when there is none, or one for another payment
 */
export function signedReceipt(
  settlement: SettleResponse | undefined,
  { attestor }: Pick<Bundle, "attestor">,
  { offer }: Pick<StoredPayment, "offer">,
): SignedReceipt | undefined {
  const jws = jwsOf(settlement?.extensions);
  if (settlement === undefined || jws === undefined) return undefined;
  try {
    const payload = verifyPaymentReceipt(jws, [attestor.pqPublicKey]);
    const isOurs =
      payload.transaction === settlement.transaction &&
      payload.network === offer.network &&
      payload.payer.toLowerCase() === offer.payer.toLowerCase();
    return isOurs ? { payload, jws } : undefined;
  } catch {
    return undefined;
  }
}

function jwsOf(extensions: SettleResponse["extensions"]): string | undefined {
  const extension = extensions?.["offer-receipt"] as { info?: { receipt?: { signature?: unknown } } } | undefined;
  const jws = extension?.info?.receipt?.signature;
  return typeof jws === "string" ? jws : undefined;
}
