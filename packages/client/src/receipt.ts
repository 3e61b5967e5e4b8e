import { type PaymentReceipt, type SignedBundle, verifyPaymentReceipt } from "@attestd/proof";
import type { SettleResponse } from "@x402/core/types";
import type { StoredPayment } from "./vault.ts";

type Extension = { info?: { receipt?: { signature?: unknown } } };

/** A receipt that the bundle's key signed. `jws` alone proves it to others. */
export type SignedReceipt = { payload: PaymentReceipt; jws: string };

/**
 * Returns the signed receipt of a settlement (x402 extension `offer-receipt`); undefined unless the bundle's key signed
 * it for this payment. The bundle's report says whether the key is trusted.
 */
export function signedReceipt(
  settlement: SettleResponse | undefined,
  { attestor }: Pick<SignedBundle, "attestor">,
  { offer }: Pick<StoredPayment, "offer">,
): SignedReceipt | undefined {
  const extension = settlement?.extensions?.["offer-receipt"] as Extension | undefined;
  const jws = extension?.info?.receipt?.signature;
  if (settlement === undefined || typeof jws !== "string") return undefined;
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
