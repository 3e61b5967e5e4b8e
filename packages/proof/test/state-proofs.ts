import type { Checkpoint, StateProofMessage } from "../src/algorand/state-proof/index.ts";
import { checkpointAfter } from "../src/algorand/state-proof/index.ts";
import { fromBase64, toBase64 } from "../src/encoding.ts";
import { readNodeStateProof } from "./node-state-proof.ts";
import type { Vectors } from "./vectors.ts";

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

/** MainNet's for the rounds 59,999,745 to 60,000,000 and the 256 after them. */
export function mainnetProofs(vectors: Vectors): Proven[] {
  const folder = "state-proof/mainnet-60000000";
  const { genesisHash, anchor, proofs } = vectors.json(`${folder}/chain.json`);
  const { VotersCommitment: votersCommitment, LnProvenWeight: lnProvenWeight } = anchor;
  const first = { genesisHash, round: 59_999_744, votersCommitment, lnProvenWeight };
  const answers = proofs.map(({ file, Message }: { file: string; Message: object }) =>
    readNodeStateProof({ Message, StateProof: toBase64(vectors.bytes(`${folder}/${file}`)) }),
  );
  return chained(first, answers);
}

/** Those of a private network whose interval is 16. The header of round 16 names who signs the first. */
export function privateProofs(vectors: Vectors): Proven[] {
  const { proofs, headers } = vectors.json("state-proof/private-16.json");
  const { gh, spt } = headers[16].block;
  const first = { genesisHash: gh, round: 16, votersCommitment: spt[0].v, lnProvenWeight: 2_334_874 };
  return chained(first, proofs.map(readNodeStateProof));
}
