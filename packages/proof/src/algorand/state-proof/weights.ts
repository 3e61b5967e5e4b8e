import { shake256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8 } from "../../encoding.ts";
import { MAX_COINS, type StateProof } from "./form.ts";
import type { Checkpoint } from "./message.ts";

/*
 * How many coins a state proof needs, and which weight they select. Source: go-algorand, `crypto/stateproof`:
 * weights.go, coinGenerator.go.
 */

const STRENGTH = 256n;
/** ln 2 in 16 binary places, rounded up. */
const LN_2 = 45427n;
const PRECISION = 16n;

/**
 * Whether this number of coins proves, with 256 bits of security, that more than the proven weight signed.
 * @param signedWeight the weight that signed, as the proof claims, in microalgos
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

/** The values that determine the coins. All of them are fixed before the coins are drawn. */
export type CoinSeed = Pick<StateProof, "signatureCommitment" | "signedWeight"> &
  Pick<Checkpoint, "lnProvenWeight"> & { votersCommitment: Uint8Array; messageHash: Uint8Array };

/** Yields the coins one after the other: positions in the signed weight, each below `signedWeight`. */
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
