import { shake256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8 } from "../../encoding.ts";
import { MAX_COINS, type StateProof } from "./form.ts";
import type { Checkpoint } from "./message.ts";

/* How many coins must fall on signed weight, and on which. Source: go-algorand, `crypto/stateproof`: weights.go, coinGenerator.go. */

const STRENGTH = 256n;
/** ln 2 in 16 binary places, rounded up. */
const LN_2 = 45427n;
const PRECISION = 16n;

/**
 * Whether so many coins prove, with 256 bits of security, that more than the proven weight has signed.
 *
 * @param signedWeight of everyone who has signed, by the proof's own word, in microalgos
 * @param lnProvenWeight ln of the proven weight in 16 binary places, rounded up
 */
export function provesWeight(signedWeight: bigint, lnProvenWeight: number, coins: number): boolean {
  if (signedWeight === 0n || coins > MAX_COINS) return false;
  const d = BigInt(signedWeight.toString(2).length - 1);
  const [square, power] = [signedWeight * signedWeight, 1n << (2n * d)];
  const y = square + (signedWeight << (d + 2n)) + power;
  const x = (3n * (square - power)) << PRECISION;
  const n = BigInt(coins);
  return n * (x + d * (LN_2 - 1n) * y) >= (STRENGTH * LN_2 + n * BigInt(lnProvenWeight)) * y;
}

/** What decides where the coins fall; all of it is fixed before they do. */
export type CoinSeed = Pick<StateProof, "signatureCommitment" | "signedWeight"> &
  Pick<Checkpoint, "lnProvenWeight"> & { votersCommitment: Uint8Array; messageHash: Uint8Array };

/** The places in the signed weight on which the coins fall, one after the other, each below `signedWeight`. */
export function* coinsOf(seed: CoinSeed): Generator<bigint, never> {
  const { votersCommitment, lnProvenWeight, signatureCommitment, signedWeight, messageHash } = seed;
  const version = Uint8Array.of(0);
  const xof = shake256.create();
  const weights = [uint64(BigInt(lnProvenWeight)), uint64(signedWeight)] as const;
  xof.update(
    concatBytes(utf8("spc"), version, votersCommitment, weights[0], signatureCommitment, weights[1], messageHash),
  );
  const limit = (2n ** 64n / signedWeight) * signedWeight;
  for (;;) {
    const word = new DataView(xof.xof(8).slice().buffer).getBigUint64(0, true);
    if (word < limit) yield word % signedWeight;
  }
}

/** 8 bytes, little-endian. */
export function uint64(value: bigint): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}
