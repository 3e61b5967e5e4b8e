import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Authorization } from "./payments.ts";

/** A payment as a request carries it. */
export type Sent = {
  authorization: Authorization;
  /** `good` and `other` are both the payer's; a stranger can only make a `bad` one, or leave it out: `none`. */
  signature: "good" | "other" | "bad" | "none";
  by: Signer;
  accepted: PaymentRequirements;
  /** The payer's own name for the purchase (extension payment-identifier). */
  identifier?: string;
  /** The name that a transport gives to the purchase. */
  name?: string;
};

/**
 * Who signs for an account. By a `key` the signature can be checked without asking anyone; of a `wallet` (a contract, a
 * multisig, a rekeyed account) the chain tells; of a `program` it tells only as long as the payment can still be made.
 */
export type Signer = "key" | "wallet" | "program";

/** What a rail finds in `payload.payload`. */
export type SimulatedScheme = { authorization: string; signature: Sent["signature"]; by: Signer };

/** Whether the payer itself has signed. */
export function isPayers(signature: Sent["signature"]): boolean {
  return signature === "good" || signature === "other";
}

/** The payload as it comes off the wire: new with every request. */
export function toPayload({ authorization, signature, by, accepted, identifier }: Sent): PaymentPayload {
  return {
    x402Version: 2,
    accepted,
    payload: { authorization: authorization.key, signature, by } satisfies SimulatedScheme,
    ...(identifier !== undefined && {
      extensions: { "payment-identifier": { info: { required: false, id: identifier } } },
    }),
  };
}
