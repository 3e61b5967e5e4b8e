import { fromBase64 } from "@attestd/proof/encoding";
import { keyLeaf, participantLeaf, proveVector, signFalcon, vectorRoot } from "@attestd/proof/state-proof/maker";
import falconKeys from "./participants.json" with { type: "json" };

/** Accounts of the network that are online, whose stake signs state proofs: microAlgos. */
const WEIGHTS = [4_000_000_000_000n, 3_000_000_000_000n, 2_000_000_000_000n, 1_000_000_000_000n];

/** Rounds for which one key of a participant is good. */
const KEY_LIFETIME = 256n;
/** Keys of a participant; after the rounds of the last one it registers anew. */
const KEYS = 8;

/**
 * A Falcon-1024 key for each participant: 1793 bytes public, 2305 secret. They are in the source, as no secret of a local network
 * is worth the two seconds of CPU that new ones take: `falcon1024.keygen` of @noble/post-quantum made them of 48 bytes 01 to 04.
 * A key stands at each place of its participant's tree of keys, which a real one fills with others.
 */
const KEYS_OF_PARTICIPANTS = falconKeys.map(({ publicKey, secretKey }) => ({
  publicKey: fromBase64(publicKey),
  secretKey: fromBase64(secretKey),
}));

/**
 * A participant as it is registered when it signs for a round: its weight in microAlgos, `keys`, the root of its tree of keys,
 * 64 bytes, and the leaves of that tree.
 */
export type Participant = ReturnType<typeof participantsAt>[number];

/** The participants who sign for a round, by the place in their vector. */
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
export function signFor({ publicKey, secretKey, leaves }: Participant, round: number, messageHash: Uint8Array) {
  const keyIndex = Number((BigInt(round) - firstRoundOfTree(round)) / KEY_LIFETIME);
  const signature = signFalcon(secretKey, messageHash);
  return { signature, publicKey, keyIndex, keyProof: proveVector(leaves, [keyIndex]) };
}
