import { createHash } from "node:crypto";
import { keyLeaf, participantLeaf, proveVector, signedFalcon, vectorRoot } from "@attestd/proof/state-proof/maker";
import { falcon1024 } from "@noble/post-quantum/falcon.js";
import type { SigOpts } from "@noble/post-quantum/utils.js";

/** Accounts of the network that are online, whose stake signs state proofs: microAlgos. */
const WEIGHTS = [4_000_000_000_000n, 3_000_000_000_000n, 2_000_000_000_000n, 1_000_000_000_000n];

/** Rounds for which one key of a participant is good. */
const KEY_LIFETIME = 256n;
/** Keys of a participant; after the rounds of the last one it registers anew. */
const KEYS = 8;
/** What Falcon asks for after its salt of 40 bytes. */
const SAMPLER_SEED_BYTES = 48;

/** A participant's Falcon-1024 key. It stands at each place of its tree of keys, which a real one fills with others. */
export interface FalconKey {
  /** 1793 bytes. */
  publicKey: Uint8Array;
  /** 2305 bytes. */
  secretKey: Uint8Array;
}

/** Makes the keys of all participants: half a second of CPU each. */
export function makeKeys(): FalconKey[] {
  return WEIGHTS.map(() => falcon1024.keygen());
}

/** A participant as it is registered when it signs for a round. */
export interface Participant {
  /** microAlgos. */
  weight: bigint;
  keyLifetime: bigint;
  /** The root of its tree of keys, 64 bytes. */
  keys: Uint8Array;
  publicKey: Uint8Array;
  /** The leaves of its tree. */
  leaves: Uint8Array[];
}

/** The participants who sign for a round, by the place in their vector. @param publicKeys of `makeKeys`, in that order */
export function participantsAt(publicKeys: readonly Uint8Array[], round: number): Participant[] {
  const first = firstRoundOfTree(round);
  return publicKeys.map((publicKey, place) => {
    const rounds = Array.from({ length: KEYS }, (_, index) => first + BigInt(index) * KEY_LIFETIME);
    const leaves = rounds.map((one) => keyLeaf(publicKey, one));
    return { weight: WEIGHTS[place] as bigint, keyLifetime: KEY_LIFETIME, keys: vectorRoot(leaves), publicKey, leaves };
  });
}

/** The first round of the keys that are registered together with that of a round: their participants are the same. */
export function firstRoundOfTree(round: number): bigint {
  return BigInt(round) - (BigInt(round) % (KEY_LIFETIME * BigInt(KEYS)));
}

/** The commitment to the participants, 64 bytes, and their weight: a header's `v` and `t`. */
export function votersOf(participants: readonly Participant[]): { commitment: Uint8Array; weight: bigint } {
  return {
    commitment: vectorRoot(participants.map(participantLeaf)),
    weight: participants.reduce((sum, { weight }) => sum + weight, 0n),
  };
}

/**
 * A participant's signature for a round. It is a function of key and hash: two signatures of one hash by one salt would give
 * the key away. Therefore the sampler's seed follows from both.
 */
export function signFor(
  { publicKey, leaves }: Participant,
  secretKey: Uint8Array,
  round: number,
  messageHash: Uint8Array,
) {
  const keyIndex = Number((BigInt(round) - firstRoundOfTree(round)) / KEY_LIFETIME);
  const seed = createHash("shake256", { outputLength: SAMPLER_SEED_BYTES }).update(secretKey).update(messageHash);
  const sampler = seed.digest();
  const signature = signedFalcon((salt) => {
    // noble's own type of `sign` leaves this option out.
    const options = { random: (length: number) => (length === salt.length ? salt : sampler) } as SigOpts;
    return falcon1024.sign(messageHash, secretKey, options);
  });
  return { signature, publicKey, keyIndex, keyProof: proveVector(leaves, [keyIndex]) };
}
