import { concatBytes, utf8 } from "@attestd/proof/encoding";
import {
  type Checkpoint,
  checkStateProof,
  decodeStateProof,
  type StateProofMessage,
  stateProofMessageHash,
} from "@attestd/proof/state-proof";
import { falcon1024 } from "@noble/post-quantum/falcon.js";

/** Both sides of the benchmark, as Node and Chromium run them: each throws unless it verifies. */
export function stateProofSides(stateProof: Uint8Array, message: StateProofMessage, checkpoint: Checkpoint) {
  const hash = stateProofMessageHash(message);
  const header = concatBytes(Uint8Array.of(0x3a, 0, 10), utf8("FALCON_DET"), new Uint8Array(28));
  const signatures = [...decodeStateProof(stateProof).reveals.values()].map(({ signature, publicKey }) => {
    return { publicKey, signature: concatBytes(header, signature.subarray(2)) };
  });
  const alone = () => signatures.every(({ publicKey, signature }) => falcon1024.verify(signature, hash, publicKey));
  return {
    ours: (times: number) => repeat(times, () => checkStateProof(stateProof, message, checkpoint) === undefined),
    yardstick: (times: number) => repeat(times, alone),
  };
}

function repeat(times: number, verifies: () => boolean): void {
  for (let time = 0; time < times; time++) if (!verifies()) throw new Error("the state proof does not verify");
}
