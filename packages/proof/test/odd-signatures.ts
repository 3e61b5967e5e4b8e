import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import type { TestSigner } from "../../../test/bundles/evidence.ts";

/*
 * Signatures of Ed25519 that implementations of RFC 8032 judge differently. Which of them Algorand's consensus takes is recorded in
 * recorded/ed25519.json, of signatures of the same kinds.
 */

const { Point } = ed25519;
const L = Point.Fn.ORDER;
const B = Point.BASE;
/** Of order 8. */
const T = Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
/** Encodings of the neutral element: its own, one with a sign bit, and one of y + p. */
const [NEUTRAL, SIGNED_NEUTRAL, LONG_NEUTRAL] = [
  `01${"00".repeat(31)}`,
  `01${"00".repeat(30)}80`,
  `ee${"ff".repeat(30)}7f`,
].map((hex) => Uint8Array.fromHex(hex)) as [Uint8Array, Uint8Array, Uint8Array];

/** The key's and the nonce's scalars. */
const [a, r] = [123_456_789n, 987_654_321n];

function littleEndian(number: bigint): Uint8Array {
  return Uint8Array.fromHex(number.toString(16).padStart(64, "0")).reverse();
}

function challenge(...parts: Uint8Array[]): bigint {
  const digest = createHash("sha512").update(Buffer.concat(parts)).digest();
  return BigInt(`0x${digest.reverse().toString("hex")}`) % L;
}

/** @param s gives S of the challenge */
function signer(publicKey: Uint8Array, R: Uint8Array, s: (h: bigint) => bigint): TestSigner {
  const sign = (message: Uint8Array) => Uint8Array.of(...R, ...littleEndian(s(challenge(R, publicKey, message))));
  return { publicKey, sign };
}

const [key, mixedKey] = [B.multiply(a).toBytes(), B.multiply(a).add(T).toBytes()];
const [nonce, mixedNonce] = [B.multiply(r).toBytes(), B.multiply(r).add(T).toBytes()];
const own = (h: bigint) => (r + h * a) % L;
/** Where R is of small order. */
const withoutNonce = (h: bigint) => (h * a) % L;
/** Right for every message, where the key is of small order. */
const forged = () => r;

export const ODD_SIGNERS: readonly (readonly [name: string, isTaken: boolean, signer: TestSigner])[] = [
  ["a signature by RFC 8032", true, signer(key, nonce, own)],
  ["an R of mixed order", true, signer(key, mixedNonce, own)],
  ["an R of small order", true, signer(key, T.toBytes(), withoutNonce)],
  ["an R that is the neutral element", true, signer(key, NEUTRAL, withoutNonce)],
  ["a key of mixed order", true, signer(mixedKey, nonce, own)],
  ["a key and an R of mixed order", true, signer(mixedKey, mixedNonce, own)],
  ["an R with the sign of an x of 0", false, signer(key, SIGNED_NEUTRAL, withoutNonce)],
  ["an R whose y is above the field", false, signer(key, LONG_NEUTRAL, withoutNonce)],
  ["a key of order 8", false, signer(T.toBytes(), nonce, forged)],
  ["a key that is the neutral element", false, signer(NEUTRAL, nonce, forged)],
  ["a key whose y is above the field", false, signer(LONG_NEUTRAL, nonce, forged)],
  ["an S of the group's order more", false, signer(key, nonce, (h) => own(h) + L)],
];
