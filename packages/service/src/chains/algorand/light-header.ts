import type { LightHeaderProof } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { commitsToHeader, type StateProofMessage } from "@attestd/proof/state-proof/messages";
import { ignoring } from "../../lib/errors.ts";
import type { Algod, LightHeaderPath } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import { isUnusable, unavailable } from "../../providers/provider.ts";
import { agree, ifAny } from "../../providers/quorum.ts";

const DIGEST_LENGTH = 32;

/**
 * Returns the proof from a header to the commitment of the state proof that covers its round. The nodes agree on the
 * commitment (k of n); a verifier of the bundle must know it from elsewhere.
 * @param block.header msgpack of the header map
 * @returns undefined if no state proof covers the round yet, or the nodes give no proof that leads there: the
 *   transaction's proof is complete without it
 */
export async function lightHeaderOf(
  { algods, rules }: AlgorandNodes,
  { round, header }: { round: number; header: Uint8Array },
  signal: AbortSignal,
): Promise<LightHeaderProof | undefined> {
  const ask = async (algod: Algod, ends: AbortSignal) => {
    const path = await algod.lightHeader(round, ends);
    if (path === undefined) return undefined;
    const proven = await algod.provenRounds(round, ends);
    if (proven === undefined) throw unavailable(`${algod.name} has no state proof of round ${round}`);
    return { proof: algod.decode(() => lightHeaderProof(header, round, path, proven.message)) };
  };
  type Answer = { proof: LightHeaderProof | undefined };
  const question = ifAny(
    `the state proof of round ${round}`,
    ({ proof }: Answer) => proof?.commitment ?? "none",
    signal,
  );
  const agreed = await agree(algods, ask, question, rules).catch(ignoring(isUnusable));
  return agreed?.[0]?.proof;
}

/**
 * @returns undefined if the siblings do not lead from the header to the commitment
 * @throws ProofError `malformed` for a commitment that is not base64
 */
function lightHeaderProof(
  header: Uint8Array,
  round: number,
  { index, siblings: joined }: LightHeaderPath,
  message: StateProofMessage,
): LightHeaderProof | undefined {
  const { blockHeadersCommitment: commitment, firstAttestedRound: first, lastAttestedRound: last } = message;
  const siblings = digestsOf(joined);
  const fits = joined.length % DIGEST_LENGTH === 0 && index === round - first;
  if (!fits || !commitsToHeader(message, header, siblings)) return undefined;
  return { index, interval: last - first + 1, commitment, siblings: siblings.map(toBase64) };
}

/** Splits joined digests of 32 bytes; an incomplete rest is dropped. */
export function digestsOf(joined: Uint8Array): Uint8Array[] {
  return Array.from({ length: joined.length / DIGEST_LENGTH }, (_, index) => {
    return joined.subarray(index * DIGEST_LENGTH, (index + 1) * DIGEST_LENGTH);
  });
}
