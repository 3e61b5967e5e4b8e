import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Payment } from "./rails/rail.ts";
import { type Resource, resourceInfo } from "./resource.ts";

/**
 * A payment as the facilitator gets it (x402 v2, PaymentPayload): only the scheme's own part is the client's.
 *
 * A facilitator may refuse a client's spelling of `accepted` or a long `resource`, and may act on `extensions`. So
 * `accepted` is the requirement that is settled, `resource` is ours, and the extensions are those that we declare for the
 * resource. The client's `payment-identifier` concerns us alone, and gas sponsoring needs payloads that we refuse.
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
