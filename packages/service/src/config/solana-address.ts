import { base58 } from "@scure/base";

const BYTES = 32;
/** The longest base58 of 32 bytes. */
const MAX_CHARACTERS = 44;
/** The field of Curve25519, and the curve's `d` (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

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

/** Whether 32 bytes are a point of Ed25519, and so may be a key's: those of programs' accounts never are. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const little = BigInt(`0x${Uint8Array.from(bytes).reverse().toHex()}`);
  const y = little & (2n ** 255n - 1n);
  const isOdd = little >> 255n === 1n;
  const ySquared = (y * y) % P;
  const [u, v] = [(ySquared - 1n + P) % P, (D * ySquared + 1n) % P];
  // x² = u/v has a root when u·v is zero or a square (Euler's criterion).
  const product = (u * v) % P;
  if (product === 0n) return !isOdd;
  return power(product, (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; square = (square * square) % P, rest >>= 1n)
    if (rest & 1n) result = (result * square) % P;
  return result;
}
