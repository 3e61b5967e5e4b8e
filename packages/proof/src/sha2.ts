import * as noble from "@noble/hashes/sha2.js";

/** A hash of SHA-2 (FIPS 180-4): bytes to 32 bytes, or 64 of `sha512`. */
export type Hash = (bytes: Uint8Array) => Uint8Array;
export type Sha2 = { sha256: Hash; sha512: Hash; sha512_256: Hash };

let used: Sha2 = noble;

/**
 * Replaces the hashes of this thread, which are noble's JavaScript unless a server gives its platform's: of what a transaction
 * has, these take a quarter of the time.
 */
export function useSha2(functions: Sha2): void {
  used = functions;
}

export const sha256: Hash = (bytes) => used.sha256(bytes);
export const sha512: Hash = (bytes) => used.sha512(bytes);
export const sha512_256: Hash = (bytes) => used.sha512_256(bytes);
