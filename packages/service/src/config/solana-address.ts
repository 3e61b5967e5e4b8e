const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BYTES = 32;
/** The field of Curve25519, and the curve's `d` (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * The 32 bytes of a Solana address.
 *
 * Written out, because the library that knows addresses takes 30 MB (`solana-kit.ts`), and settings are read without it.
 *
 * @param address base58, in its one spelling
 * @returns undefined when it is none
 */
export function solanaAddressBytes(address: string): Uint8Array | undefined {
  if (address.length < BYTES || address.length > 44) return undefined;
  let value = 0n;
  for (const character of address) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    value = value * 58n + BigInt(digit);
  }
  const hex = value === 0n ? "" : value.toString(16);
  const bytes = Uint8Array.fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
  // Every leading 1 is a zero byte.
  const zeros = address.length - address.replace(/^1+/, "").length;
  if (zeros + bytes.length !== BYTES) return undefined;
  const padded = new Uint8Array(BYTES);
  padded.set(bytes, zeros);
  return padded;
}

/** The address of 32 bytes, in base58. */
export function solanaAddress(bytes: Uint8Array): string {
  let text = "";
  for (let value = BigInt(`0x${bytes.toHex()}`); value > 0n; value /= 58n)
    text = `${ALPHABET[Number(value % 58n)]}${text}`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros < 0 ? bytes.length : zeros) + text;
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
