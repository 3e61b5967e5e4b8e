import * as noble from "@noble/hashes/sha2.js";

/** A hash of SHA-2 (FIPS 180-4): bytes to 32 bytes, or 64 of `sha512`. */
export type Hash = (bytes: Uint8Array) => Uint8Array;
export type Sha2 = { sha256: Hash; sha512: Hash; sha512_256: Hash };

let used: Sha2 = noble;

/**
 * Replaces the hashes that this package uses in this thread. They are noble's JavaScript unless they are replaced: a server's
 * platform takes a third of their time for a transaction, and an eighth for a bundle.
 */
export function useSha2(functions: Sha2): void {
  used = functions;
}

export const sha256: Hash = (bytes) => used.sha256(bytes);
export const sha512: Hash = (bytes) => used.sha512(bytes);
export const sha512_256: Hash = (bytes) => used.sha512_256(bytes);
