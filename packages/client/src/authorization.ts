import { BASE_CHAIN_ID } from "@attestd/proof/base";
import { toHex } from "@attestd/proof/encoding";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";

/** How far a chain's clock may be behind the authorization's date. */
const CLOCK_SKEW_SECONDS = 600;

export type Authorization = ReturnType<typeof authorizationFor>;

/**
 * Makes the `TransferWithAuthorization` (EIP-3009) that pays an offer, as x402's scheme `exact` spells it: exactly its
 * amount, to its payee, valid for its `maxTimeoutSeconds`. Integers are decimal strings, times are seconds since 1970.
 * @param dateMs the payment's date, ms since 1970
 * @param nonce 32 random bytes
 */
export function authorizationFor(offer: PaymentRequirements, from: string, dateMs: number, nonce: Uint8Array) {
  const now = Math.floor(dateMs / 1000);
  return {
    from,
    to: offer.payTo,
    value: offer.amount,
    validAfter: String(now - CLOCK_SKEW_SECONDS),
    validBefore: String(now + offer.maxTimeoutSeconds),
    nonce: `0x${toHex(nonce)}`,
  };
}

/** Members in the notation of EIP-712's `encodeType`. */
const DOMAIN = "string name,string version,uint256 chainId,address verifyingContract";
const AUTHORIZATION = "address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce";

function members(encoded: string): { name: string | undefined; type: string | undefined }[] {
  return encoded.split(",").map((member) => {
    const [type, name] = member.split(" ");
    return { name, type };
  });
}

/** Returns the token's name and version, which the offer states and a wallet shows (EIP-712). */
export function tokenDomain({ extra }: PaymentRequirements): { name: string; version: string } {
  return { name: String(extra.name ?? ""), version: String(extra.version ?? "") };
}

/** Returns the JSON that `eth_signTypedData_v4` signs (EIP-712, EIP-3009). */
export function typedData(offer: PaymentRequirements, authorization: Authorization): string {
  return JSON.stringify({
    types: { EIP712Domain: members(DOMAIN), TransferWithAuthorization: members(AUTHORIZATION) },
    primaryType: "TransferWithAuthorization",
    domain: { ...tokenDomain(offer), chainId: BASE_CHAIN_ID, verifyingContract: offer.asset },
    message: authorization,
  });
}

/** Returns the payment in the form of x402 v2. @param payload the scheme's own part */
export function paymentPayload(
  { resource }: PaymentRequired,
  offer: PaymentRequirements,
  payload: PaymentPayload["payload"],
): PaymentPayload {
  return { x402Version: 2, resource, accepted: offer, payload };
}
