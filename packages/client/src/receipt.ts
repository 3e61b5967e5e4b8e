import { type Bundle, type PaymentReceipt, verifyPaymentReceipt } from "@attestd/proof";
import type { SettleResponse } from "@x402/core/types";
import type { StoredPayment } from "./vault.ts";

/** What the signer of the bundle has signed about its payment. Whoever is to be shown it needs `jws` alone. */
export type SignedReceipt = { payload: PaymentReceipt; jws: string };

/**
 * Takes the attestor's signed receipt from the settlement's (x402 extension `offer-receipt`), if it is by the key of the
 * bundle and of this payment. Whether that key is to be believed is what the bundle's report says.
 *
 * @returns undefined where there is none, or one that is of something else: a bundle without a receipt is as good
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
