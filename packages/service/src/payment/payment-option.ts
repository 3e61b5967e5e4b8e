import { formatUsdc } from "@attestd/proof/rails";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { EnabledRail } from "./enabled-rail.ts";
import type { RailFacts } from "./rails/rail.ts";

/** An offer in the form of the discovery document and of a 402's `options`. */
export type PaymentOption = ReturnType<typeof paymentOption>;

/** @param price micro-USDC */
export function paymentOption({ rail, payTo }: EnabledRail, facilitatorUrl: string, price: bigint) {
  return {
    scheme: "exact",
    network: rail.optionNetwork ?? rail.network,
    asset: rail.asset,
    payTo,
    maxAmountRequired: price.toString(),
    priceUsdc: formatUsdc(price),
    facilitatorUrl,
  };
}

/** Makes an x402 offer. `amount`: atomic units of the asset. */
export function exactRequirement(
  { network, asset }: Pick<RailFacts, "network" | "asset">,
  { amount, ...terms }: Pick<PaymentRequirements, "payTo" | "maxTimeoutSeconds" | "extra"> & { amount: bigint },
): PaymentRequirements {
  return {
    scheme: "exact",
    network: network as PaymentRequirements["network"],
    asset,
    amount: amount.toString(),
    ...terms,
  };
}

/** Returns the amount that a payment accepted, from an x402 offer or a `PaymentOption`. @returns an unchecked value */
export function acceptedAmount({ accepted }: PaymentPayload): unknown {
  const { amount, maxAmountRequired } = accepted as { amount?: unknown; maxAmountRequired?: unknown };
  return amount ?? maxAmountRequired;
}
