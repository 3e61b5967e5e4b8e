import { concatBytes, fromBase64, toBase64, utf8 } from "../../encoding.ts";
import { malformed } from "../../errors.ts";
import { base64, integer, object, type Reader } from "../../json/readers.ts";
import { sha256 } from "../../sha2.ts";
import { encodeMsgpack, getBytes, getInteger, getMap, type MsgpackMap, structMap } from "../msgpack.ts";
import { SUMHASH_LENGTH } from "./sumhash.ts";

/**
 * The statement of a state proof: the blocks of its rounds, and who signs the next state proof. Integers are below
 * 2^53.
 */
export type StateProofMessage = {
  /** The vector commitment to the light headers of its rounds, base64 of 32 bytes. */
  blockHeadersCommitment: string;
  /** The vector commitment to the participants who sign the next state proof, base64 of 64 bytes. */
  votersCommitment: string;
  /** ln of the microalgos that the next state proof must prove, in 16 binary places, rounded up. */
  lnProvenWeight: number;
  firstAttestedRound: number;
  lastAttestedRound: number;
};

/**
 * The data needed to verify the state proof of the rounds after `round`; everything later follows from it. Never
 * recompute `lnProvenWeight`: go-algorand's logarithm differs between processors.
 */
export type Checkpoint = {
  /** The network's genesis hash, base64 of 32 bytes. */
  genesisHash: string;
  /** The last attested round. */
  round: number;
  /** From the message that attests `round`. */
  votersCommitment: string;
  /** From the message that attests `round`. */
  lnProvenWeight: number;
};

const commitment = base64(SUMHASH_LENGTH);

/** Reads a message. @throws ProofError `format` */
export const readStateProofMessage: Reader<StateProofMessage> = object({
  blockHeadersCommitment: base64(32),
  votersCommitment: commitment,
  lnProvenWeight: integer(1),
  firstAttestedRound: integer(1),
  lastAttestedRound: integer(1),
});

/** Reads a checkpoint. @throws ProofError `format` */
export const readCheckpoint: Reader<Checkpoint> = object({
  genesisHash: base64(32),
  round: integer(0),
  votersCommitment: commitment,
  lnProvenWeight: integer(1),
});

/**
 * Returns the hash that the participants sign: 32 bytes, SHA-256 of `"spm"` and the canonical msgpack of `{P, b, f, l,
 * v}`. Source: go-algorand, `data/stateproofmsg/message.go`.
 */
export function stateProofMessageHash(message: StateProofMessage): Uint8Array {
  return sha256(concatBytes(utf8("spm"), encodeMsgpack(stateProofMessageMap(message))));
}

/** Returns a message as the map that is signed and that the state proof transaction holds. */
export function stateProofMessageMap(message: StateProofMessage): MsgpackMap {
  return structMap({
    P: message.lnProvenWeight,
    b: fromBase64(message.blockHeadersCommitment),
    f: message.firstAttestedRound,
    l: message.lastAttestedRound,
    v: fromBase64(message.votersCommitment),
  });
}

/** Reads a message from the map of `stateProofMessageMap`. @throws ProofError `malformed` */
export function stateProofMessageOf(map: MsgpackMap): StateProofMessage {
  const commitmentIn = (name: string, length: number) => {
    const bytes = getBytes(map, name, length);
    if (bytes === undefined) throw malformed(`state proof message without ${name}`);
    return toBase64(bytes);
  };
  return {
    blockHeadersCommitment: commitmentIn("b", 32),
    votersCommitment: commitmentIn("v", SUMHASH_LENGTH),
    lnProvenWeight: Number(getInteger(map, "P")),
    firstAttestedRound: Number(getInteger(map, "f")),
    lastAttestedRound: Number(getInteger(map, "l")),
  };
}

/** Returns the checkpoint after a proven message. @param genesisHash 32 bytes */
export function checkpointAfter(genesisHash: Uint8Array, message: StateProofMessage): Checkpoint {
  const { lastAttestedRound: round, votersCommitment, lnProvenWeight } = message;
  return { genesisHash: toBase64(genesisHash), round, votersCommitment, lnProvenWeight };
}

/** The share of the stake that a state proof proves, in 2^-32 (go-algorand, `config/consensus.go`). */
const PROVEN_SHARE = 1_288_490_188n;

/** Returns a header's state proof tracking, `spt["0"]`: `n`, and at every interval `v` and `t`. */
export function stateProofTracking(header: MsgpackMap): MsgpackMap {
  const tracking = getMap(header, "spt");
  return (tracking && getMap(tracking, 0)) ?? new Map();
}

/**
 * Returns the checkpoint that a header states. A network's first state proof needs it, because no message comes before.
 * `lnProvenWeight` is computed (go-algorand, `crypto/stateproof/weights.go`) and may differ from the network's in the
 * last place; a state proof that verifies on it shows that it does not.
 * @returns undefined if the header names no voters
 */
export function checkpointInHeader(header: MsgpackMap): Checkpoint | undefined {
  const tracking = stateProofTracking(header);
  const [commitment, genesisHash] = [getBytes(tracking, "v", SUMHASH_LENGTH), getBytes(header, "gh", 32)];
  if (commitment === undefined || genesisHash === undefined) return undefined;
  const proven = (getInteger(tracking, "t") * PROVEN_SHARE) >> 32n;
  return {
    genesisHash: toBase64(genesisHash),
    round: Number(getInteger(header, "rnd")),
    votersCommitment: toBase64(commitment),
    lnProvenWeight: Math.ceil(65_536 * Math.log(Number(proven))),
  };
}
