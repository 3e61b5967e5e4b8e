import { encodeMsgpack, type MsgpackMap, structMap } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import {
  type Checkpoint,
  checkStateProof,
  type StateProofMessage,
  stateProofMessageHash,
} from "@attestd/proof/state-proof";
import {
  coinsOf,
  MAX_COINS,
  participantLeaf,
  provesWeight,
  proveVector,
  type SignatureSlot,
  signatureLeaf,
  type VectorProof,
  vectorRoot,
} from "@attestd/proof/state-proof/maker";
import { type Participant, participantsAt, signFor } from "./participants.ts";

/** The value of `HashFactory` for sumhash512. */
const SUMHASH = structMap({ t: 1 });

/**
 * Makes a state proof that all participants sign. Source: go-algorand, `crypto/stateproof/prover.go`.
 * @param checkpoint before the message's rounds
 * @returns canonical msgpack
 * @throws Error when the verifier finds a fault in it
 */
export function proveRounds(message: StateProofMessage, checkpoint: Checkpoint): Uint8Array {
  const { lastAttestedRound: round } = message;
  const participants = participantsAt(round);
  const messageHash = stateProofMessageHash(message);
  let before = 0n;
  const slots = participants.map((participant): SignatureSlot => {
    const slot = { before, ...signFor(participant, round, messageHash) };
    before += participant.weight;
    return slot;
  });
  const signedWeight = before;
  const signatureLeaves = slots.map((slot) => signatureLeaf(slot) as Uint8Array);
  const signatureCommitment = vectorRoot(signatureLeaves);
  const { lnProvenWeight } = checkpoint;
  const votersCommitment = fromBase64(checkpoint.votersCommitment);
  const coins = coinsOf({ votersCommitment, lnProvenWeight, signatureCommitment, signedWeight, messageHash });
  const places: number[] = [];
  while (!provesWeight(signedWeight, lnProvenWeight, places.length)) {
    if (places.length === MAX_COINS) throw new Error("the weight cannot be proven");
    const { value: coin } = coins.next();
    places.push(slots.findIndex((slot, place) => coin < slot.before + (participants[place] as Participant).weight));
  }
  const revealed = [...new Set(places)].sort((a, b) => a - b);
  const stateProof = encodeMsgpack(
    structMap({
      c: signatureCommitment,
      w: signedWeight,
      S: vectorMap(proveVector(signatureLeaves, revealed)),
      P: vectorMap(proveVector(participants.map(participantLeaf), revealed)),
      r: new Map(revealed.map((place) => [place, revealMap(participants, slots, place)])),
      pr: places,
    }),
  );
  const fault = checkStateProof(stateProof, message, checkpoint);
  if (fault !== undefined) throw new Error(`a state proof has the fault ${fault}`);
  return stateProof;
}

function revealMap(participants: readonly Participant[], slots: readonly SignatureSlot[], place: number): MsgpackMap {
  const { weight, keys, keyLifetime } = participants[place] as Participant;
  const { before, signature, publicKey, keyIndex, keyProof } = slots[place] as SignatureSlot;
  return structMap({
    p: structMap({ p: structMap({ cmt: keys, lf: keyLifetime }), w: weight }),
    s: structMap({
      l: before,
      s: structMap({ idx: keyIndex, prf: vectorMap(keyProof), sig: signature, vkey: structMap({ k: publicKey }) }),
    }),
  });
}

function vectorMap({ depth, path }: VectorProof): MsgpackMap {
  return structMap({ hsh: SUMHASH, pth: path, td: depth });
}
