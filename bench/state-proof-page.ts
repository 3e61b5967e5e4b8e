import { fromBase64 } from "@attestd/proof/encoding";
import type { Checkpoint, StateProofMessage } from "@attestd/proof/state-proof";
import { stateProofSides } from "./state-proof-work.ts";

type Given = { stateProofBase64: string; message: StateProofMessage; checkpoint: Checkpoint };

/** What Chromium runs. @returns ms */
declare global {
  function timeStateProof(side: "ours" | "yardstick", given: Given, times: number): number;
}

let sides: ReturnType<typeof stateProofSides> | undefined;

globalThis.timeStateProof = (side, { stateProofBase64, message, checkpoint }, times) => {
  sides ??= stateProofSides(fromBase64(stateProofBase64), message, checkpoint);
  const start = performance.now();
  sides[side](times);
  return performance.now() - start;
};
