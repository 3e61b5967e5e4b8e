import { BASE_CHAIN_ID } from "@attestd/proof/base";
import type { Hex } from "viem";
import {
  encodeAbiParameters,
  getAddress,
  hashTypedData,
  isHex,
  numberToHex,
  parseAbiParameters,
  recoverAddress,
  size,
} from "viem/utils";
import { paymentRefused } from "../rail.ts";

/** A token's EIP-712 `name` and `version`, which bind a signature to the contract. */
export type TokenDomain = { name: string; version: string };

/** A `TransferWithAuthorization` message (EIP-3009); times in Unix s. */
export type Authorization = {
  from: Hex;
  to: Hex;
  /** Atomic units. */
  value: bigint;
  /** The transfer is valid after this time, exclusive. */
  validAfter: bigint;
  /** The transfer is valid before this time, exclusive. */
  validBefore: bigint;
  /** 32 bytes, lower case. */
  nonce: Hex;
};

/**
 * The members of the message, which are also the first arguments of the token's two functions
 * `transferWithAuthorization`.
 */
const MEMBERS = parseAbiParameters(
  "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce",
);

/**
 * Half the order of secp256k1: a signature with a greater `s` is the malleable twin of another one, and tokens refuse
 * it.
 */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/**
 * The limit of a signature. A smart wallet's WebAuthn signature has some 700 bytes, and the facilitator pays gas for
 * each byte.
 */
const MAX_SIGNATURE_BYTES = 2_048;

/**
 * Reads `{signature, authorization}` of scheme `exact` with EIP-3009, and no other shape: a facilitator chooses how to
 * settle by the members that it finds.
 * @throws payment_refused naming the member that is missing, unknown or malformed
 */
export function readAuthorization(payload: unknown): { authorization: Authorization; signature: Hex } {
  const { signature, authorization } = exactly(payload, ["signature", "authorization"], "payload");
  const members = MEMBERS.map(({ name }) => name);
  const fields = exactly(authorization, members, "payload.authorization");
  const text = (field: string, format: RegExp, what: string): string => {
    const value = fields[field];
    if (typeof value === "string" && format.test(value)) return value;
    throw paymentRefused(`payload.authorization.${field} is not ${what}`);
  };
  const address = (field: string) => getAddress(text(field, /^0x[0-9a-fA-F]{40}$/, "0x and 40 hex characters"));
  const uint256 = (field: string) => {
    const value = BigInt(text(field, /^(0|[1-9][0-9]{0,77})$/, "a decimal string"));
    if (value < 2n ** 256n) return value;
    throw paymentRefused(`payload.authorization.${field} is more than a uint256 holds`);
  };
  if (!isHex(signature) || signature.length % 2 !== 0 || size(signature) > MAX_SIGNATURE_BYTES)
    throw paymentRefused(`payload.signature is not 0x and hex of at most ${MAX_SIGNATURE_BYTES} bytes`);
  return {
    authorization: {
      from: address("from"),
      to: address("to"),
      value: uint256("value"),
      validAfter: uint256("validAfter"),
      validBefore: uint256("validBefore"),
      nonce: text("nonce", /^0x[0-9a-fA-F]{64}$/, "0x and 64 hex characters").toLowerCase() as Hex,
    },
    signature,
  };
}

function exactly(value: unknown, members: readonly string[], where: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw paymentRefused(`${where} is not an object`);
  const strange = Object.keys(value).find((member) => !members.includes(member));
  if (strange !== undefined)
    throw paymentRefused(
      `${where} has the member ${strange}, which EIP-3009 does not have: no other transfer method is accepted`,
    );
  const missing = members.find((member) => !Object.hasOwn(value, member));
  if (missing !== undefined) throw paymentRefused(`${where} has no member ${missing}`);
  return value as Record<string, unknown>;
}

/** Returns the 32 bytes that the payer signs (EIP-712), for the token at that address on Base. */
export function authorizationDigest(authorization: Authorization, token: Hex, domain: TokenDomain): Hex {
  return hashTypedData({
    domain: { ...domain, chainId: BASE_CHAIN_ID, verifyingContract: token },
    types: { TransferWithAuthorization: MEMBERS },
    primaryType: "TransferWithAuthorization",
    message: authorization,
  });
}

/**
 * Whether this is the ECDSA signature of that address's own key, in the one form that USDC accepts: `r ‖ s ‖ v` of 65
 * bytes, `s` in the lower half, `v` 27 or 28 (EIP-2; Circle's ECRecover).
 */
export async function isSignedByKeyOf(address: Hex, digest: Hex, signature: Hex): Promise<boolean> {
  if (size(signature) !== 65) return false;
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const v = Number.parseInt(signature.slice(130), 16);
  if (s > HALF_ORDER || (v !== 27 && v !== 28)) return false;
  const signer = await recoverAddress({ hash: digest, signature }).catch(() => undefined);
  return signer === address;
}

/**
 * The ABI offset of the signature, after seven words, in the function that takes bytes; the other function takes `v, r,
 * s`.
 */
const BEHIND_ARGUMENTS = 7 * 32;

/**
 * Whether a transaction's input passes the authorization with this signature to the token, directly or through other
 * contracts, which forward such arguments unchanged.
 * @param input in lower-case hex
 */
export function bringsSignature(input: Hex, authorization: Authorization, signature: Hex): boolean {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const begin = hexOf(encodeAbiParameters(MEMBERS, [from, to, value, validAfter, validBefore, nonce]));
  // ABI: the offset of the bytes, their length, and the bytes padded to whole words.
  const whole = hexOf(encodeAbiParameters(parseAbiParameters("bytes"), [signature])).slice(64);
  const asBytes = hexOf(numberToHex(BEHIND_ARGUMENTS, { size: 32 })) + whole;
  const asWords = size(signature) === 65 ? hexOf(signature).slice(0, 128) : undefined;
  for (let at = input.indexOf(begin); at >= 0; at = input.indexOf(begin, at + 1)) {
    const rest = input.slice(at + begin.length);
    if (rest.startsWith(asBytes) || (asWords !== undefined && rest.slice(64).startsWith(asWords))) return true;
  }
  return false;
}

function hexOf(hex: Hex): string {
  return hex.slice(2).toLowerCase();
}
