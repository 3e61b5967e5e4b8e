import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Payment } from "./rails/rail.ts";
import { type Resource, resourceInfo } from "./resource.ts";

/**
 * A payment as the facilitator gets it (x402 v2, PaymentPayload): nothing in it but the scheme's own part is the client's.
 *
 * A facilitator refuses a client's spelling of `accepted` that it does not know, and a `resource` of any length; it may
 * act on what it finds in `extensions`. So `accepted` is the requirement that is settled, `resource` is ours, and of the
 * extensions only what indexers read of the resource is passed on, in our own words. The payer's name for its purchase
 * (`payment-identifier`) is between it and us; those that sponsor gas need payloads of a shape that we refuse.
 *
 * @param requirement our own, of the offer that the payment accepted
 */
export function forwardedPayment(
  { wire }: Pick<Payment, "wire">,
  requirement: PaymentRequirements,
  resource: Resource,
): PaymentPayload {
  return {
    x402Version: 2,
    resource: resourceInfo(resource),
    accepted: requirement,
    payload: wire,
    ...(resource.extensions && { extensions: resource.extensions }),
  };
}
