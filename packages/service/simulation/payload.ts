import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Authorization } from "./payments.ts";

/** A payment as a request carries it. */
export type Sent = {
  authorization: Authorization;
  /** `good` and `other` are both the payer's; a stranger can only make a `bad` one. */
  signature: "good" | "other" | "bad";
  /** Signed by a wallet's contract: only the chain can tell whether well. */
  wallet: boolean;
  accepted: PaymentRequirements;
  /** The payer's own name for the purchase (extension payment-identifier). */
  identifier?: string;
  /** The name that a door gives to the purchase. */
  name?: string;
};

/** What a rail finds in `payload.payload`. */
export type SimulatedScheme = { authorization: string; signature: Sent["signature"]; wallet: boolean };

/** The payload as it comes off the wire: new with every request. */
export function toPayload({ authorization, signature, wallet, accepted, identifier }: Sent): PaymentPayload {
  return {
    x402Version: 2,
    accepted,
    payload: { authorization: authorization.key, signature, wallet } satisfies SimulatedScheme,
    ...(identifier !== undefined && {
      extensions: { "payment-identifier": { info: { required: false, id: identifier } } },
    }),
  };
}
