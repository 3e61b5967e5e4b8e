import { parentPort } from "node:worker_threads";
import type { Checkpoint, StateProofMessage } from "@attestd/proof/state-proof";
import { proveRounds } from "./prove.ts";

/** A request to the worker. */
export type ProofRequest = { message: StateProofMessage; checkpoint: Checkpoint };

/** Its answers come in the order of the requests. */
export type ProofAnswer = { message: StateProofMessage; stateProof: Uint8Array };

const port = parentPort;
if (port === null) throw new Error("this is a worker's program");
port.on("message", ({ message, checkpoint }: ProofRequest) => {
  port.postMessage({ message, stateProof: proveRounds(message, checkpoint) } satisfies ProofAnswer);
});
