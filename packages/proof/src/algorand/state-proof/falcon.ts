import { shake256 } from "@noble/hashes/sha3.js";
import { falcon1024 } from "@noble/post-quantum/falcon.js";
import type { SigOpts } from "@noble/post-quantum/utils.js";
import { concatBytes, utf8 } from "../../encoding.ts";

/*
 * Falcon-1024 with a fixed salt, and its compressed signatures. Source: algorand/falcon v0.1.0, `deterministic.h` and
 * `deterministic.c`. A signature is 0xBA, the version of the salt, and the compressed coefficients.
 */

export const FALCON_PUBLIC_KEY_LENGTH = 1793;
/** The longest compressed signature. */
export const FALCON_MAX_SIGNATURE_LENGTH = 1423;
/** The length of a signature with 12 bits per coefficient. */
export const FALCON_CT_LENGTH = 1538;

const COMPRESSED_HEADER = 0xba;
const CT_HEADER = 0xda;
const COEFFICIENTS = 1024;
const MAX_COEFFICIENT = 2047;
/** The header of a signature in Falcon's own format with its salt: compressed, degree 2^10. */
const SALTED_HEADER = 0x3a;
const SALT_LENGTH = 40;
const LOG_DEGREE = 10;
/** The number of bytes that Falcon's sampler takes after the salt. */
const SAMPLER_SEED_LENGTH = 48;

/** Returns the salt version of a signature; undefined if the bytes are not a compressed signature. */
export function saltVersion(signature: Uint8Array): number | undefined {
  const fits = signature.length > 2 && signature.length <= FALCON_MAX_SIGNATURE_LENGTH;
  return fits && signature[0] === COMPRESSED_HEADER ? signature[1] : undefined;
}

/** Whether a compressed signature over the message was made by the key. @param publicKey 1793 bytes */
export function verifyFalcon(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const version = saltVersion(signature);
  if (version === undefined || publicKey.length !== FALCON_PUBLIC_KEY_LENGTH) return false;
  const salted = concatBytes(Uint8Array.of(SALTED_HEADER), saltOf(version), signature.subarray(2));
  return falcon1024.verify(salted, message, publicKey);
}

/**
 * Converts a compressed signature to 12 bits per coefficient, 1538 bytes: a signature's leaf hashes this form.
 * @returns undefined if the coefficients do not decode: cut, "-0", more than 2047, or bits left over
 */
export function constantLength(signature: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const version = saltVersion(signature);
  if (version === undefined) return undefined;
  const bytes = new Uint8Array(FALCON_CT_LENGTH);
  bytes.set([CT_HEADER, version]);
  let place = 2;
  let bits = 0;
  let pending = 0;
  for (let index = 0; index < COEFFICIENTS; index++) {
    // Bits past the end read as zeros; the length limit ends the loop.
    for (; bits < 8; bits += 8) pending = (pending << 8) | (signature[place++] ?? 0);
    bits -= 8;
    const first = (pending >> bits) & 0xff;
    let magnitude = first & 0x7f;
    for (;;) {
      if (bits === 0) {
        pending = signature[place++] ?? 0;
        bits = 8;
      }
      if ((pending >> --bits) & 1) break;
      magnitude += 128;
      if (magnitude > MAX_COEFFICIENT) return undefined;
    }
    if (first === 0x80 && magnitude === 0) return undefined;
    const value = (first & 0x80 ? -magnitude : magnitude) & 0xfff;
    const at = 2 + (index >> 1) * 3;
    if (index % 2 === 0) {
      bytes[at] = value >> 4;
      bytes[at + 1] = (value & 15) << 4;
    } else {
      bytes[at + 1] = (bytes[at + 1] as number) | (value >> 8);
      bytes[at + 2] = value;
    }
  }
  const isWhole = place === signature.length && (pending & ((1 << bits) - 1)) === 0;
  return isWhole ? bytes : undefined;
}

/**
 * Makes a Falcon key.
 * @param seed 48 bytes; Falcon's own code expands them with SHAKE256 in the same way
 * @returns 1793 and 2305 bytes, in Falcon's encoding
 */
export function makeFalconKey(seed: Uint8Array): { publicKey: Uint8Array; secretKey: Uint8Array } {
  return falcon1024.keygen(seed);
}

/**
 * Signs a message deterministically. Two different signatures of one message with one salt would reveal the key, so the
 * sampler's seed, random elsewhere, is SHAKE256(secretKey || message). Algorand's own code derives another seed: a key
 * MUST sign either only with this function or never with it.
 * @param secretKey 2305 bytes, in Falcon's encoding
 * @returns the compressed signature, at most 1423 bytes
 */
export function signFalcon(secretKey: Uint8Array, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const salt = saltOf(0);
  const sampler = shake256(concatBytes(secretKey, message), { dkLen: SAMPLER_SEED_LENGTH });
  // noble's type of `sign` lacks this option.
  const options = { random: (length: number) => (length === SALT_LENGTH ? salt : sampler) } as SigOpts;
  const salted = falcon1024.sign(message, secretKey, options);
  return concatBytes(Uint8Array.of(COMPRESSED_HEADER, 0), salted.subarray(1 + SALT_LENGTH));
}

function saltOf(version: number): Uint8Array {
  const salt = new Uint8Array(SALT_LENGTH);
  salt.set([version, LOG_DEGREE, ...utf8("FALCON_DET")]);
  return salt;
}
