import { fromBase64, toBase64 } from "../src/encoding.ts";
import { flip } from "./flips.ts";
import type { Proven } from "./state-proofs.ts";

/* Every change of one bit of a state proof, of its message, and of what its checkpoint says of the participants. */

export type Mutation = { what: string; changed: Proven };

const INTEGER_BITS = 52;

/** A part of a state proof: how many bits it has, and the proof with one of them changed. */
type Part = { name: string; bits: number; change(bit: number): Proven };

export function partsOf(proven: Proven): Part[] {
  const { stateProof } = proven;
  const inMember = (of: "message" | "checkpoint", name: string): Part => {
    const members = proven[of] as Record<string, string | number>;
    const value = members[name] as string | number;
    const changed = (to: string | number) => ({ ...proven, [of]: { ...members, [name]: to } });
    if (typeof value === "string") {
      const bytes = fromBase64(value);
      return { name: `${of}.${name}`, bits: bytes.length * 8, change: (bit) => changed(toBase64(flip(bytes, bit))) };
    }
    const change = (bit: number) => changed(Number(BigInt(value) ^ (1n << BigInt(bit))));
    return { name: `${of}.${name}`, bits: INTEGER_BITS, change };
  };
  return [
    {
      name: "proof",
      bits: stateProof.length * 8,
      change: (bit) => ({ ...proven, stateProof: flip(stateProof, bit) }),
    },
    ...Object.keys(proven.message).map((name) => inMember("message", name)),
    // Of the genesis hash a state proof says nothing: the header of a round does.
    ...["round", "votersCommitment", "lnProvenWeight"].map((name) => inMember("checkpoint", name)),
  ];
}

/** Every `step`-th bit of each part. */
export function* mutations(proven: Proven, step: (part: string) => number): Generator<Mutation> {
  for (const { name, bits, change } of partsOf(proven))
    for (let bit = 0; bit < bits; bit += step(name)) yield { what: `${name} bit ${bit}`, changed: change(bit) };
}
