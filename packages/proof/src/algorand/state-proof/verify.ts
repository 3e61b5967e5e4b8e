import { concatBytes, fromBase64, utf8 } from "../../encoding.ts";
import { attempt } from "../../errors.ts";
import { intervalDepth } from "./committed.ts";
import { constantLength, saltVersion, verifyFalcon } from "./falcon.ts";
import { decodeStateProof, MAX_KEY_DEPTH, type Reveal, type StateProof } from "./form.ts";
import { type Checkpoint, type StateProofMessage, stateProofMessageHash } from "./message.ts";
import { SUMHASH_LENGTH, sumhash512 } from "./sumhash.ts";
import { verifyVector } from "./vector.ts";
import { coinsOf, provesWeight, uint64 } from "./weights.ts";

/** The faults of a state proof, each with the words that report it. */
export const STATE_PROOF_FAULTS = {
  /** Includes a state proof beyond a limit. */
  form: "is not a canonical state proof",
  /** Includes a message whose rounds are not an interval. */
  rounds: "does not attest the interval after the checkpoint",
  weight: "does not prove enough weight",
  salt: "has a signature with a salt of another version",
  coins: "does not reveal the participants that the coins select",
  participants: "reveals participants that are not the checkpoint's",
  signatures: "reveals other signatures than it commits to",
  /** The key is not the participant's key of these rounds. */
  key: "has a key that is not its participant's",
  signature: "has a signature that does not fit the message",
};
export type StateProofFault = keyof typeof STATE_PROOF_FAULTS;

const SCHEME = Uint8Array.of(0, 0);

/**
 * Verifies a state proof: whether participants of the checkpoint, with at least the weight that it demands, signed the
 * message. A proof of MainNet has 67 Falcon signatures, which take 0.1 s.
 * @param stateProof its canonical msgpack, at most `MAX_STATE_PROOF_BYTES`
 * @returns the first fault; if undefined, `checkpointAfter` is as trustworthy as the checkpoint
 */
export function checkStateProof(
  stateProof: Uint8Array,
  message: StateProofMessage,
  checkpoint: Checkpoint,
): StateProofFault | undefined {
  if (!isNextInterval(message, checkpoint)) return "rounds";
  const proof = attempt("malformed", () => decodeStateProof(stateProof));
  if (proof === undefined) return "form";
  const { lnProvenWeight } = checkpoint;
  const reveals = [...proof.reveals];
  const messageHash = stateProofMessageHash(message);
  const voters = fromBase64(checkpoint.votersCommitment);
  if (!provesWeight(proof.signedWeight, lnProvenWeight, proof.positions.length)) return "weight";
  if (reveals.some(([, { signature }]) => saltVersion(signature) !== proof.saltVersion)) return "salt";
  if (!coinsFit(proof, checkpoint, voters, messageHash)) return "coins";
  const participants = new Map(reveals.map(([place, one]) => [place, participantLeaf(one)]));
  if (!verifyVector(participants, proof.participants, voters)) return "participants";
  const signatures = new Map<number, Uint8Array>();
  for (const [place, one] of reveals) {
    const leaf = signatureLeaf(one);
    if (leaf === undefined) return "signature";
    signatures.set(place, leaf);
  }
  if (!verifyVector(signatures, proof.signatures, proof.signatureCommitment)) return "signatures";
  for (const [, one] of reveals) if (!isKeyOf(one, message.lastAttestedRound)) return "key";
  for (const [, { publicKey, signature }] of reveals)
    if (!verifyFalcon(publicKey, messageHash, signature)) return "signature";
  return undefined;
}

/** Whether the message attests the interval after the checkpoint: a power of two of rounds, the last a multiple of it. */
export function isNextInterval(message: StateProofMessage, { round }: Checkpoint): boolean {
  const { firstAttestedRound: first, lastAttestedRound: last } = message;
  const interval = last - first + 1;
  return first === round + 1 && intervalDepth(interval) !== undefined && last % interval === 0;
}

function coinsFit(
  proof: StateProof,
  { lnProvenWeight }: Checkpoint,
  votersCommitment: Uint8Array,
  messageHash: Uint8Array,
) {
  const { signatureCommitment, signedWeight, reveals, positions } = proof;
  const coins = coinsOf({ votersCommitment, lnProvenWeight, signatureCommitment, signedWeight, messageHash });
  return positions.every((place) => {
    const { before, weight } = reveals.get(place) as Reveal;
    const coin = coins.next().value;
    // In go-algorand a sum of 2^64 or more wraps around, so that no coin is below it.
    return before <= coin && coin < before + weight && before + weight < 2n ** 64n;
  });
}

/** Source: go-algorand, `data/basics/stateProofParticipant.go`. */
export function participantLeaf({
  weight,
  keyLifetime,
  keys,
}: Pick<Reveal, "weight" | "keyLifetime" | "keys">): Uint8Array {
  return sumhash512(concatBytes(utf8("spp"), uint64(weight), uint64(keyLifetime), keys));
}

export type SignatureSlot = Pick<Reveal, "before" | "signature" | "publicKey" | "keyIndex" | "keyProof">;

/**
 * Source: go-algorand, `crypto/stateproof/committableSignatureSlot.go`, `GetFixedLengthHashableRepresentation`.
 * @returns undefined if the signature's coefficients do not decode
 */
export function signatureLeaf({
  before,
  signature,
  publicKey,
  keyIndex,
  keyProof,
}: SignatureSlot): Uint8Array | undefined {
  const constant = constantLength(signature);
  if (constant === undefined || keyProof.path.length !== keyProof.depth) return undefined;
  const filler = new Uint8Array((MAX_KEY_DEPTH - keyProof.depth) * SUMHASH_LENGTH);
  const proof = concatBytes(Uint8Array.of(keyProof.depth), filler, ...keyProof.path);
  const index = uint64(BigInt(keyIndex));
  return sumhash512(concatBytes(utf8("sps"), uint64(before), SCHEME, constant, publicKey, index, proof));
}

/** Source: go-algorand, `crypto/merklesignature`: merkleSignatureScheme.go, committablePublicKeys.go. */
export function keyLeaf(publicKey: Uint8Array, firstRound: bigint): Uint8Array {
  return sumhash512(concatBytes(utf8("KP"), SCHEME, uint64(firstRound), publicKey));
}

function isKeyOf({ keys, keyLifetime, keyIndex, keyProof, publicKey }: Reveal, lastRound: number): boolean {
  const round = BigInt(lastRound);
  const leaf = keyLeaf(publicKey, round - (round % keyLifetime));
  return verifyVector(new Map([[keyIndex, leaf]]), keyProof, keys);
}
