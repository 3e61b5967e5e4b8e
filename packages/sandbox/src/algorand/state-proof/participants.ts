import { fromBase64 } from "@attestd/proof/encoding";
import { keyLeaf, participantLeaf, proveVector, signFalcon, vectorRoot } from "@attestd/proof/state-proof/maker";
import falconKeys from "./participants.json" with { type: "json" };

/** The online accounts of the network, whose stake signs state proofs, in microAlgos. */
const WEIGHTS = [4_000_000_000_000n, 3_000_000_000_000n, 2_000_000_000_000n, 1_000_000_000_000n];

/** Rounds for which one key of a participant is valid. */
const KEY_LIFETIME = 256n;
/** Keys per participant; after the rounds of the last one it registers again. */
const KEYS = 8;

/**
 * A Falcon-1024 key for each participant: 1793 bytes public, 2305 secret. They are in the source, because no secret of
 * a local network is worth the two seconds of CPU for new ones: `falcon1024.keygen` of @noble/post-quantum made them
 * from 48 bytes 01 to 04. All places of a participant's tree have the same key, while a real one has different keys.
 */
const KEYS_OF_PARTICIPANTS = falconKeys.map(({ publicKey, secretKey }) => ({
  publicKey: fromBase64(publicKey),
  secretKey: fromBase64(secretKey),
}));

/**
 * A participant as registered when it signs for a round: its weight in microAlgos, `keys`, the root of its tree of
 * keys, 64 bytes, and the leaves of that tree.
 */
export type Participant = ReturnType<typeof participantsAt>[number];

/** Returns the participants who sign for a round, by their index in the vector. */
export function participantsAt(round: number) {
  const first = firstRoundOfTree(round);
  return KEYS_OF_PARTICIPANTS.map(({ publicKey, secretKey }, place) => {
    const rounds = Array.from({ length: KEYS }, (_, index) => first + BigInt(index) * KEY_LIFETIME);
    const leaves = rounds.map((one) => keyLeaf(publicKey, one));
    return {
      weight: WEIGHTS[place] as bigint,
      keyLifetime: KEY_LIFETIME,
      keys: vectorRoot(leaves),
      publicKey,
      secretKey,
      leaves,
    };
  });
}

/**
 * Returns the first round of the keys that are registered together with a round's key: their participants are the same.
 */
export function firstRoundOfTree(round: number): bigint {
  return BigInt(round) - (BigInt(round) % (KEY_LIFETIME * BigInt(KEYS)));
}

/** Returns the commitment to the participants, 64 bytes, and their weight: a header's `v` and `t`. */
export function votersOf(participants: readonly Participant[]): { commitment: Uint8Array; weight: bigint } {
  return {
    commitment: vectorRoot(participants.map(participantLeaf)),
    weight: participants.reduce((sum, { weight }) => sum + weight, 0n),
  };
}

/** Makes a participant's signature for a round. */
export function signFor({ publicKey, secretKey, leaves }: Participant, round: number, messageHash: Uint8Array) {
  const keyIndex = Number((BigInt(round) - firstRoundOfTree(round)) / KEY_LIFETIME);
  const signature = signFalcon(secretKey, messageHash);
  return { signature, publicKey, keyIndex, keyProof: proveVector(leaves, [keyIndex]) };
}
