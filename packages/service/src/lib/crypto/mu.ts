import { createHash } from "node:crypto";

/** Length of µ in bytes (FIPS 204, algorithm 7, line 6). */
export const MU_LENGTH = 64;

/**
 * Computes the message representative µ of ML-DSA (FIPS 204, algorithms 2 and 7), pure and with an empty context. A
 * signer that does not get the message signs µ, which is bound to the key.
 * @param publicKey raw
 * @returns 64 bytes: SHAKE256(SHAKE256(publicKey, 64) || 0 || 0 || message, 64)
 */
export function messageRepresentative(publicKey: Uint8Array, message: Uint8Array): Uint8Array<ArrayBuffer> {
  // Pure ML-DSA's domain separator, and the length of the context.
  const prefix = Uint8Array.of(0, 0);
  return new Uint8Array(
    shake256().update(shake256().update(publicKey).digest()).update(prefix).update(message).digest(),
  );
}

function shake256() {
  return createHash("shake256", { outputLength: MU_LENGTH });
}
