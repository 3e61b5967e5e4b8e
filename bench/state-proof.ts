import { concatBytes, utf8 } from "@attestd/proof/encoding";
import { checkStateProof, decodeStateProof, stateProofMessageHash } from "@attestd/proof/state-proof";
import { falcon1024 } from "@noble/post-quantum/falcon.js";
import { mainnetProofs, type Proven } from "../packages/proof/test/state-proofs.ts";
import { readVectors } from "../packages/proof/test/vectors.ts";
import { cpuTimed, type Effort, inTurns, judge, type Row } from "./measure.ts";

/** A state proof of MainNet, beside noble's verification of the Falcon signatures in it, in CPU time. */
export async function run(effort: Effort): Promise<Row[]> {
  const vectors = readVectors();
  if (vectors === undefined) {
    console.error("state-proof: left out, since ATTESTD_VECTORS does not name the folder of test vectors");
    return [];
  }
  const [{ stateProof, message, checkpoint }] = mainnetProofs(vectors) as [Proven];
  const hash = stateProofMessageHash(message);
  const header = concatBytes(Uint8Array.of(0x3a, 0, 10), utf8("FALCON_DET"), new Uint8Array(28));
  const signatures = [...decodeStateProof(stateProof).reveals.values()].map(({ signature, publicKey }) => {
    return { publicKey, signature: concatBytes(header, signature.subarray(2)) };
  });
  const verifyAll = () => signatures.every(({ publicKey, signature }) => falcon1024.verify(signature, hash, publicKey));
  const verify = () => checkStateProof(stateProof, message, checkpoint) === undefined;
  if (!verifyAll() || !verify()) throw new Error("the state proof does not verify");
  const turns = await inTurns(
    { ...effort, warmUp: effort.warmUp + 3 },
    () => cpuTimed(() => repeat(verify)),
    () => cpuTimed(() => repeat(verifyAll)),
  );
  return [judge("state-proof", "ms of CPU", turns, "share", { atMost: 1.5 })];
}

const TIMES = 5;

function repeat(work: () => boolean): void {
  for (let time = 0; time < TIMES; time++) work();
}
