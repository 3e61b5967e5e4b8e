import { keccak_256 } from "@noble/hashes/sha3.js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { equalBytes } from "./encoding.ts";

/** Keccak-256 with Ethereum's padding: bytes to 32 bytes. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array;

/** The expensive primitives. A server may replace them by faster ones. */
export interface Crypto {
  keccak256: Keccak256;
  mldsa65: {
    /**
     * Pure ML-DSA-65 (FIPS 204 algorithm 3) with an empty context, for a key of 1952 bytes and a signature of 3309. MUST
     * return false, not throw, for a signature that does not verify.
     */
    verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  };
}

/** The default: noble's JavaScript, the same everywhere. `@noble/post-quantum` has not been audited independently yet. */
export const nobleCrypto: Crypto = {
  keccak256: keccak_256,
  mldsa65: { verify: (publicKey, message, signature) => ml_dsa65.verify(signature, message, publicKey) },
};

/**
 * Returns primitives that remember their last result. The items of a batch share one signature, which is then verified
 * once for consecutive items. Only equal bytes count as the same.
 */
export function rememberingLast({ keccak256, mldsa65 }: Crypto): Crypto {
  let last: { parts: readonly Uint8Array[]; verified: boolean } | undefined;
  return {
    keccak256,
    mldsa65: {
      verify(...parts) {
        if (!last || !parts.every((part, index) => equalBytes(part, last?.parts[index] as Uint8Array)))
          last = { parts, verified: mldsa65.verify(...parts) };
        return last.verified;
      },
    },
  };
}

/** Lengths in bytes: FIPS 204 table 2. */
export const ML_DSA_65_PUBLIC_KEY_LENGTH = 1952;
export const ML_DSA_65_SIGNATURE_LENGTH = 3309;

/**
 * Verifies an ML-DSA-65 signature with an empty context. @returns false also for a raw key or signature of a wrong
 * length
 */
export function verifySignature(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  crypto: Pick<Crypto, "mldsa65"> = nobleCrypto,
): boolean {
  return (
    publicKey.length === ML_DSA_65_PUBLIC_KEY_LENGTH &&
    signature.length === ML_DSA_65_SIGNATURE_LENGTH &&
    crypto.mldsa65.verify(publicKey, message, signature)
  );
}
