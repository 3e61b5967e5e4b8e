import { formatUsdc } from "@attestd/proof/rails";
import type { PaymentPayload } from "@x402/core/types";
import type { EnabledRail } from "./enabled-rail.ts";

/** An offer as the discovery document and `options` of a 402 write it. */
export type PaymentOption = ReturnType<typeof paymentOption>;

export function paymentOption({ rail, payTo, price }: EnabledRail, facilitatorUrl: string) {
  return {
    scheme: "exact",
    network: rail.optionNetwork ?? rail.network,
    asset: rail.asset,
    payTo,
    ...inBothUnits(price),
    facilitatorUrl,
  };
}

/** The same option at another price, in micro-USDC. */
export function pricedOption(option: PaymentOption, price: bigint): PaymentOption {
  return { ...option, ...inBothUnits(price) };
}

function inBothUnits(price: bigint) {
  return { maxAmountRequired: price.toString(), priceUsdc: formatUsdc(price) };
}

/** The amount that a payment accepted, as an x402 offer or as a `PaymentOption` names it. @returns anything */
export function acceptedAmount({ accepted }: PaymentPayload): unknown {
  const { amount, maxAmountRequired } = accepted as { amount?: unknown; maxAmountRequired?: unknown };
  return amount ?? maxAmountRequired;
}
