import type { Checkpoint, StateProofMessage } from "../src/algorand/state-proof/index.ts";
import { checkpointAfter } from "../src/algorand/state-proof/index.ts";
import { fromBase64, toBase64 } from "../src/encoding.ts";
import { readNodeStateProof } from "./node-state-proof.ts";
import { readLargeVectors, vectors } from "./vectors.ts";

/* The recorded state proofs, each with the checkpoint before it. */

/** What `checkStateProof` takes. */
export type Proven = { stateProof: Uint8Array; message: StateProofMessage; checkpoint: Checkpoint };

/** Puts a chain of algod's answers behind its first checkpoint. */
function chained(first: Checkpoint, answers: ReturnType<typeof readNodeStateProof>[]): Proven[] {
  let checkpoint = first;
  return answers.map(({ stateProof, message }) => {
    const proven = { stateProof, message, checkpoint };
    checkpoint = checkpointAfter(fromBase64(first.genesisHash), message);
    return proven;
  });
}

/**
 * MainNet's for the rounds 59,999,745 to 60,000,000 and the 256 after them.
 *
 * @param what is not tested without them, which is printed
 * @returns undefined if ATTESTD_VECTORS does not name the folder of large test vectors
 */
export function mainnetProofs(what: string): Proven[] | undefined {
  const large = readLargeVectors(what);
  if (large === undefined) return undefined;
  const { genesisHash, anchor, proofs } = vectors.json("state-proof/mainnet-60000000.json");
  const { VotersCommitment: votersCommitment, LnProvenWeight: lnProvenWeight } = anchor;
  const first = { genesisHash, round: 59_999_744, votersCommitment, lnProvenWeight };
  const answers = proofs.map(({ file, Message }: { file: string; Message: object }) =>
    readNodeStateProof({ Message, StateProof: toBase64(large.bytes(`state-proof/mainnet-60000000/${file}`)) }),
  );
  return chained(first, answers);
}

/** Those of a private network whose interval is 16. The header of round 16 names who signs the first. */
export function privateProofs(): Proven[] {
  const { proofs, headers } = vectors.json("state-proof/private-16.json");
  const { gh, spt } = headers[16].block;
  const first = { genesisHash: gh, round: 16, votersCommitment: spt[0].v, lnProvenWeight: 2_334_874 };
  return chained(first, proofs.map(readNodeStateProof));
}
