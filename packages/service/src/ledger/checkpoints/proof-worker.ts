import { type Checkpoint, checkStateProof, type StateProofMessage } from "@attestd/proof/state-proof";
import { answerJobs } from "../../workers/worker.ts";

/** The arguments of `checkStateProof`. */
export type ProofJob = [stateProof: Uint8Array, message: StateProofMessage, checkpoint: Checkpoint];

answerJobs((_name, args) => checkStateProof(...(args as ProofJob)));
