import { ed25519 } from "@noble/curves/ed25519.js";
import { base58 } from "@scure/base";

const BYTES = 32;
/** The longest base58 of 32 bytes. */
const MAX_CHARACTERS = 44;

/**
 * The 32 bytes of a Solana address. @solana/kit is not used: it takes 30 MB, and settings are read without it.
 *
 * @param address base58
 * @returns undefined when it is not an address
 */
export function solanaAddressBytes(address: string): Uint8Array | undefined {
  if (address.length < BYTES || address.length > MAX_CHARACTERS) return undefined;
  try {
    const bytes = base58.decode(address);
    return bytes.length === BYTES ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether 32 bytes are a point of Ed25519, and so may be a key's: those of programs' accounts never are. As in @solana/kit, y
 * need not be reduced, and x = 0 has one sign only.
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  try {
    const isNegative = (bytes.at(-1) ?? 0) >= 0x80;
    return ed25519.Point.fromBytes(bytes, true).x !== 0n || !isNegative;
  } catch {
    return false;
  }
}
