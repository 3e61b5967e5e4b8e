import { parentPort, workerData } from "node:worker_threads";
import type { Checkpoint, StateProofMessage } from "@attestd/proof/state-proof";
import { type FalconKey, makeKeys } from "./participants.ts";
import { proveRounds } from "./prove.ts";

/** What the worker is asked to prove. */
export type ProofRequest = { message: StateProofMessage; checkpoint: Checkpoint };

/** Its answers: first the keys, then a proof for each request, in that order. */
export type WorkerAnswer = { keys: FalconKey[] } | { message: StateProofMessage; stateProof: Uint8Array };

const port = parentPort;
if (port === null) throw new Error("this is a worker's program");
const keys: FalconKey[] = workerData.keys ?? makeKeys();
port.postMessage({ keys } satisfies WorkerAnswer);
port.on("message", ({ message, checkpoint }: ProofRequest) => {
  port.postMessage({ message, stateProof: proveRounds(keys, message, checkpoint) } satisfies WorkerAnswer);
});
