import { ed25519 } from "@noble/curves/ed25519.js";

/**
 * Verifies an Ed25519 signature as Algorand's consensus does. Implementations of RFC 8032 differ on signatures that
 * nobody makes by chance: here the key and R are canonical encodings, the key is not of small order, S is below the
 * group's order, and the equation has the cofactor. Source: go-algorand, `crypto/curve25519.go` and
 * `crypto/gobatchverifier.go`.
 * @param publicKey 32 bytes
 * @param signature 64 bytes
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  // noble has two rules. ZIP 215 accepts encodings that Algorand refuses.
  return ed25519.verify(signature, message, publicKey, { zip215: false });
}
