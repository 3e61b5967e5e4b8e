import { keyLeaf, participantLeaf, proveVector, signFalcon, vectorRoot } from "@attestd/proof/state-proof/maker";
import { falcon1024 } from "@noble/post-quantum/falcon.js";

/** Accounts of the network that are online, whose stake signs state proofs: microAlgos. */
const WEIGHTS = [4_000_000_000_000n, 3_000_000_000_000n, 2_000_000_000_000n, 1_000_000_000_000n];

/** Rounds for which one key of a participant is good. */
const KEY_LIFETIME = 256n;
/** Keys of a participant; after the rounds of the last one it registers anew. */
const KEYS = 8;

/**
 * A participant's Falcon-1024 key: 1793 bytes public, 2305 secret. It stands at each place of its tree of keys, which a real
 * one fills with others.
 */
export type FalconKey = ReturnType<typeof falcon1024.keygen>;

/** Makes the keys of all participants: half a second of CPU each. */
export function makeKeys(): FalconKey[] {
  return WEIGHTS.map(() => falcon1024.keygen());
}

/**
 * A participant as it is registered when it signs for a round: its weight in microAlgos, `keys`, the root of its tree of keys,
 * 64 bytes, and the leaves of that tree.
 */
export type Participant = ReturnType<typeof participantsAt>[number];

/** The participants who sign for a round, by the place in their vector. @param keys of `makeKeys`, in that order */
export function participantsAt(keys: readonly FalconKey[], round: number) {
  const first = firstRoundOfTree(round);
  return keys.map(({ publicKey }, place) => {
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

/** A participant's signature for a round. */
export function signFor(
  { publicKey, leaves }: Participant,
  secretKey: Uint8Array,
  round: number,
  messageHash: Uint8Array,
) {
  const keyIndex = Number((BigInt(round) - firstRoundOfTree(round)) / KEY_LIFETIME);
  const signature = signFalcon(secretKey, messageHash);
  return { signature, publicKey, keyIndex, keyProof: proveVector(leaves, [keyIndex]) };
}
