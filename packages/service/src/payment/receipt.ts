import type { PaymentRequirements, SettleResponse } from "@x402/core/types";
import { encodeHeader } from "./header.ts";
import type { Payment } from "./rails/rail.ts";

export type Settled = { success: true; transaction: string } | { success: false; reason: string };

/**
 * The receipt of a settlement, as PAYMENT-RESPONSE carries it (x402 v2, SettleResponse).
 *
 * Made of what we saw on the payment's chain, because the facilitator's own answer may have been lost; so it is the
 * same however the settlement came about.
 *
 * @returns standard base64 of JSON
 */
export function settlementReceipt(
  payment: Payment,
  { network, amount }: PaymentRequirements,
  settled: Settled,
): string {
  const { payer } = payment;
  const response: SettleResponse = settled.success
    ? { success: true, payer, transaction: settled.transaction, network, amount }
    : {
        success: false,
        errorReason: "settlement_failed",
        errorMessage: settled.reason,
        payer,
        transaction: "",
        network,
      };
  return encodeHeader(response);
}
