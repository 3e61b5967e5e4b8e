import { ed25519 } from "@noble/curves/ed25519.js";

/**
 * Whether a signature is right under a key by Ed25519 as Algorand's consensus verifies it. Implementations of RFC 8032 differ in
 * signatures that nobody makes by chance: here the key and R are canonical encodings, the key is not of small order, S is
 * below the group's order, and the equation is the one with the cofactor. Source: go-algorand, `crypto/curve25519.go` and
 * `crypto/gobatchverifier.go`.
 *
 * @param publicKey 32 bytes
 * @param signature 64 bytes
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  // Of noble's two rules, the one that is not ZIP 215 is Algorand's.
  return ed25519.verify(signature, message, publicKey, { zip215: false });
}
