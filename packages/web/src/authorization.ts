import { BASE_CHAIN_ID } from "@attestd/proof/base";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";

/** A `TransferWithAuthorization` of EIP-3009, in the spelling of x402's scheme `exact`: integers as decimal strings. */
export type Authorization = {
  from: string;
  to: string;
  /** Atomic units. */
  value: string;
  /** Seconds of Unix time; valid after it. */
  validAfter: string;
  /** Seconds of Unix time; valid before it. */
  validBefore: string;
  /** 0x and 32 bytes in hex, random. */
  nonce: string;
};

/** A payer's clock may be this fast before the authorization is not valid yet. */
const CLOCK_SKEW_SECONDS = 600;

/**
 * The authorization that pays an offer: exactly its amount, to its payee, valid for its `maxTimeoutSeconds`.
 * @param nowMs ms since 1970
 * @param nonce 32 random bytes
 */
export function authorizationFor(
  offer: PaymentRequirements,
  from: string,
  nowMs: number,
  nonce: Uint8Array,
): Authorization {
  const now = Math.floor(nowMs / 1000);
  return {
    from,
    to: offer.payTo,
    value: offer.amount,
    validAfter: String(now - CLOCK_SKEW_SECONDS),
    validBefore: String(now + offer.maxTimeoutSeconds),
    nonce: `0x${nonce.toHex()}`,
  };
}

const DOMAIN_FIELDS = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
];
const AUTHORIZATION_FIELDS = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
];

/** The token's name and version, which the offer states and a wallet shows (EIP-712). */
export function tokenDomain({ extra }: PaymentRequirements): { name: string; version: string } {
  return { name: String(extra.name ?? ""), version: String(extra.version ?? "") };
}

/** The JSON that `eth_signTypedData_v4` signs (EIP-712, EIP-3009). */
export function typedData(offer: PaymentRequirements, authorization: Authorization): string {
  return JSON.stringify({
    types: { EIP712Domain: DOMAIN_FIELDS, TransferWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: "TransferWithAuthorization",
    domain: { ...tokenDomain(offer), chainId: BASE_CHAIN_ID, verifyingContract: offer.asset },
    message: authorization,
  });
}

/** The payment, as x402 v2 sends it. @param signature 0x and hex */
export function paymentPayload(
  { resource }: PaymentRequired,
  offer: PaymentRequirements,
  authorization: Authorization,
  signature: string,
): PaymentPayload {
  return { x402Version: 2, resource, accepted: offer, payload: { signature, authorization } };
}
