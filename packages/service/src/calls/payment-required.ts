import { excerpt } from "@attestd/proof/text";
import type { PaymentRequired as X402PaymentRequired } from "@x402/core/types";
import { type Resource, resourceInfo } from "../payment/resource.ts";
import type { PaymentRequired } from "./outcome.ts";

/** Characters of a reason, which may quote the facilitator or the payer: it must fit into a header. */
const MAX_REASON_LENGTH = 500;

/** A demand for payment in x402's own terms (v2, PaymentRequired), the same on every transport. */
export function x402PaymentRequired(
  { error, accepts, extensions }: PaymentRequired,
  resource: Resource,
): X402PaymentRequired {
  return {
    x402Version: 2,
    ...(error !== undefined && { error: excerpt(error, MAX_REASON_LENGTH) }),
    resource: resourceInfo(resource),
    accepts,
    extensions: { ...extensions, ...resource.extensions },
  };
}
