import { equalBytes } from "../../encoding.ts";
import { malformed } from "../../errors.ts";
import {
  decodeMsgpackMap,
  encodeMsgpack,
  getBytes,
  getInteger,
  getMap,
  isEmpty,
  type MsgpackMap,
  type MsgpackValue,
} from "../msgpack.ts";
import { FALCON_MAX_SIGNATURE_LENGTH, FALCON_PUBLIC_KEY_LENGTH } from "./falcon.ts";
import { SUMHASH_LENGTH } from "./sumhash.ts";
import type { VectorProof } from "./vector.ts";

/*
 * The format of a state proof: canonical msgpack, no empty member, no unknown member. Source: go-algorand,
 * `crypto/stateproof/structs.go` and const.go, `crypto/merklesignature`, `crypto/merklearray/proof.go`,
 * `crypto/hashes.go`.
 */

/** The size limit of a state proof. One of MainNet has 300 kB; 640 signatures with their paths have 2.9 MB. */
export const MAX_STATE_PROOF_BYTES = 3 * 2 ** 20;
export const MAX_COINS = 640;
/** The depth limit of the trees of signatures and participants. */
const MAX_DEPTH = 20;
/** The depth limit of a participant's tree of keys. */
export const MAX_KEY_DEPTH = 16;
/** The value of `HashFactory` for sumhash512. */
const SUMHASH = 1;

export interface StateProof {
  /** `c`, 64 bytes. */
  signatureCommitment: Uint8Array;
  /** `w`: the weight that signed, in microalgos. */
  signedWeight: bigint;
  /** `v`: version of the salt. */
  saltVersion: number;
  /** `S`: proof of the revealed signatures. */
  signatures: VectorProof;
  /** `P`: proof of the revealed participants. */
  participants: VectorProof;
  /** `r`, by position in both trees. */
  reveals: Map<number, Reveal>;
  /** `pr`: the position that each coin selects. */
  positions: number[];
}

/** A participant and its signature. */
export interface Reveal {
  /** `w`, in microalgos. */
  weight: bigint;
  /** `cmt`: the root of the participant's keys, 64 bytes. */
  keys: Uint8Array;
  /** `lf`: the number of rounds for which a key is valid. */
  keyLifetime: bigint;
  /** `l`: the weight of all signatures before this one. */
  before: bigint;
  /** `sig`: compressed, see `verifyFalcon`. */
  signature: Uint8Array;
  /** `k`, 1793 bytes. */
  publicKey: Uint8Array;
  /** `idx`: the key's index among the participant's keys. */
  keyIndex: number;
  /** `prf`: proof of the key. */
  keyProof: VectorProof;
}

/** Reads a state proof. The byte strings are views of the input. @throws ProofError `malformed` */
export function decodeStateProof(bytes: Uint8Array): StateProof {
  if (bytes.length > MAX_STATE_PROOF_BYTES) throw malformed(`state proof: more than ${MAX_STATE_PROOF_BYTES} bytes`);
  const map = decodeMsgpackMap(bytes);
  if (!equalBytes(encodeMsgpack(map), bytes)) throw malformed("state proof: not canonical msgpack");
  only(map, "c", "w", "S", "P", "v", "r", "pr");
  const saltVersion = small(map, "v", 255);
  const participants = vectorProof(needed(map, "P"), MAX_DEPTH);
  const reveals = new Map<number, Reveal>();
  for (const [place, value] of needed(map, "r")) {
    if (typeof place !== "number" || !(value instanceof Map))
      throw malformed("state proof: a key of r is not a position");
    if (reveals.size === MAX_COINS) throw malformed(`state proof: more than ${MAX_COINS} reveals`);
    reveals.set(place, reveal(value));
  }
  return {
    signatureCommitment: digest(map, "c"),
    signedWeight: positive(map, "w"),
    saltVersion,
    signatures: vectorProof(needed(map, "S"), MAX_DEPTH),
    participants,
    reveals,
    positions: positionsOf(map.get("pr"), reveals),
  };
}

/**
 * Reads the positions that the coins select. Every position needs a reveal and every reveal a coin: nothing would check
 * a reveal without a coin.
 */
function positionsOf(value: MsgpackValue | undefined, reveals: Map<number, Reveal>): number[] {
  if (!Array.isArray(value) || value.length > MAX_COINS)
    throw malformed(`state proof: pr is not an array of up to ${MAX_COINS}`);
  const positions = value.filter((place) => typeof place === "number");
  const used = new Set(positions);
  if (positions.length !== value.length || used.size !== reveals.size || positions.some((one) => !reveals.has(one)))
    throw malformed("state proof: pr and r do not name the same positions");
  return positions;
}

function reveal(map: MsgpackMap): Reveal {
  only(map, "s", "p");
  const participant = only(needed(map, "p"), "p", "w");
  const verifier = only(needed(participant, "p"), "cmt", "lf");
  const slot = only(needed(map, "s"), "s", "l");
  const signed = only(needed(slot, "s"), "sig", "idx", "prf", "vkey");
  const signature = getBytes(signed, "sig");
  const publicKey = getBytes(only(needed(signed, "vkey"), "k"), "k", FALCON_PUBLIC_KEY_LENGTH);
  if (signature === undefined || signature.length > FALCON_MAX_SIGNATURE_LENGTH || publicKey === undefined)
    throw malformed("state proof: a reveal has no signature or no key");
  return {
    weight: positive(participant, "w"),
    keys: digest(verifier, "cmt"),
    keyLifetime: positive(verifier, "lf"),
    before: getInteger(slot, "l"),
    signature,
    publicKey,
    keyIndex: small(signed, "idx", 2 ** MAX_KEY_DEPTH - 1),
    keyProof: vectorProof(needed(signed, "prf"), MAX_KEY_DEPTH),
  };
}

function vectorProof(map: MsgpackMap, maxDepth: number): VectorProof {
  only(map, "hsh", "pth", "td");
  if (getInteger(only(needed(map, "hsh"), "t"), "t") !== BigInt(SUMHASH))
    throw malformed("state proof: a tree does not use sumhash512");
  const path = map.get("pth") ?? [];
  if (!Array.isArray(path)) throw malformed("state proof: pth is not an array");
  return { depth: small(map, "td", maxDepth), path: path.map(asDigest) };
}

/** Throws unless the map has only these members, none of them empty. */
function only(map: MsgpackMap, ...names: string[]): MsgpackMap {
  for (const [name, value] of map)
    if (typeof name !== "string" || !names.includes(name) || isEmpty(value))
      throw malformed(`state proof: ${String(name)} is unknown or empty`);
  return map;
}

function needed(map: MsgpackMap, name: string): MsgpackMap {
  const value = getMap(map, name);
  if (value === undefined) throw malformed(`state proof: no ${name}`);
  return value;
}

function digest(map: MsgpackMap, name: string): Uint8Array {
  return asDigest(map.get(name) ?? null);
}

function asDigest(value: MsgpackValue): Uint8Array {
  if (value instanceof Uint8Array && value.length === SUMHASH_LENGTH) return value;
  throw malformed(`state proof: a hash does not have ${SUMHASH_LENGTH} bytes`);
}

/** An integer of up to 64 bits that is not 0. */
function positive(map: MsgpackMap, name: string): bigint {
  const value = getInteger(map, name);
  if (value === 0n) throw malformed(`state proof: no ${name}`);
  return value;
}

function small(map: MsgpackMap, name: string, max: number): number {
  const value = getInteger(map, name);
  if (value > BigInt(max)) throw malformed(`state proof: ${name} is more than ${max}`);
  return Number(value);
}
