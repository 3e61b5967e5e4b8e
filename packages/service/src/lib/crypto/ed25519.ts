import { createPublicKey, verify } from "node:crypto";

/**
 * Whether an account's key has signed a message (Ed25519, RFC 8032). False for an address that is not a point of the
 * curve: a multisig's or a program's may be such.
 * @param publicKey 32 bytes
 * @param signature 64 bytes
 */
export function isEd25519Signature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: "raw-public", asymmetricKeyType: "ed25519" });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}
