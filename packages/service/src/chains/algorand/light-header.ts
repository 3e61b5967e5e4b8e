import {
  decodeMsgpackMap,
  headerDigest,
  type LightHeaderProof,
  lightHeaderLeaf,
  verifyLeaf,
} from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { ignoring } from "../../errors.ts";
import type { Algod, StateProofOfRound } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import { isUnusable } from "../../providers/provider.ts";
import { agree, type Question } from "../../providers/quorum.ts";

const DIGEST_LENGTH = 32;

/**
 * The proof that leads from a header to the commitment of the state proof that covers its round. The commitment is what
 * the nodes agree on (k of n); a verifier of the bundle must know it from elsewhere.
 *
 * @param block.header msgpack of the header map
 * @returns undefined where no state proof covers the round yet, or the nodes do not give a proof that leads there: the
 *   proof of a transaction is whole without it
 */
export async function lightHeaderOf(
  { algods, rules }: AlgorandNodes,
  { round, header }: { round: number; header: Uint8Array },
  signal: AbortSignal,
): Promise<LightHeaderProof | undefined> {
  const ask = async (algod: Algod, ends: AbortSignal) => {
    const stateProof = await algod.stateProof(round, ends);
    return stateProof && { proof: lightHeaderProof(header, round, stateProof) };
  };
  const question: Question<Awaited<ReturnType<typeof ask>>> = {
    about: `the state proof of round ${round}`,
    same: (answer) => answer?.proof?.commitment ?? "none",
    behind: (answer, others) => answer === undefined && others.some((other) => other !== undefined),
    signal,
  };
  const agreed = await agree(algods, ask, question, rules).catch(ignoring(isUnusable));
  return agreed?.[0]?.proof;
}

/**
 * @returns undefined where the siblings do not lead from the header to the commitment
 * @throws ProofError `malformed` for a header that has no light header, as before consensus v39
 */
function lightHeaderProof(
  header: Uint8Array,
  round: number,
  { index, siblings: joined, commitment, firstRound, lastRound }: StateProofOfRound,
): LightHeaderProof | undefined {
  const siblings = digestsOf(joined);
  const interval = lastRound - firstRound + 1;
  const fits = joined.length % DIGEST_LENGTH === 0 && interval === 2 ** siblings.length && index === round - firstRound;
  const leaf = lightHeaderLeaf(decodeMsgpackMap(header), headerDigest(header));
  if (!fits || !verifyLeaf("txn256", leaf, index, siblings, commitment)) return undefined;
  return { index, interval, commitment: toBase64(commitment), siblings: siblings.map(toBase64) };
}

/** Digests of 32 bytes that a node joined; what is left over is dropped. */
export function digestsOf(joined: Uint8Array): Uint8Array[] {
  return Array.from({ length: joined.length / DIGEST_LENGTH }, (_, index) => {
    return joined.subarray(index * DIGEST_LENGTH, (index + 1) * DIGEST_LENGTH);
  });
}
