import { verify } from "@attestd/proof";
import { concatBytes, fromBase64, utf8 } from "@attestd/proof/encoding";
import { withEvidence } from "@attestd/proof/evidence";
import { checkStateProof, decodeStateProof, stateProofMessageHash } from "@attestd/proof/state-proof";
import { falcon1024 } from "@noble/post-quantum/falcon.js";
import { mainnetProofs, type Proven } from "../packages/proof/test/state-proofs.ts";
import { testHistory } from "../test/bundles/bundles.ts";
import { testEvidence } from "../test/bundles/evidence.ts";
import { cpuTimed, type Effort, inTurns, judge, type Row } from "./measure.ts";

const TIMES = 5;
const BUNDLES = 1000;

/**
 * A state proof of MainNet, beside noble's verification of the Falcon signatures in it; and bundles that share a state proof, beside the same without evidence.
 */
export async function run(effort: Effort): Promise<Row[]> {
  const proven = mainnetProofs("a state proof of MainNet")?.slice(0, 1) ?? [];
  const rows: Row[] = [];
  for (const each of proven) rows.push(await one(each, effort));
  return [...rows, await shared(effort)];
}

async function one(proven: Proven, effort: Effort): Promise<Row> {
  const { ours, yardstick } = sidesOf(proven);
  const warm = { ...effort, warmUp: effort.warmUp + 3 };
  const turns = await inTurns(
    warm,
    () => cpuTimed(() => repeat(ours)),
    () => cpuTimed(() => repeat(yardstick)),
  );
  return judge("state-proof", "ms of CPU", turns, "share", { atMost: 1.5 });
}

/** The proof verified by `proof`, and its Falcon signatures verified alone. Each throws unless it verifies. */
function sidesOf({ stateProof, message, checkpoint }: Proven) {
  const hash = stateProofMessageHash(message);
  const header = concatBytes(Uint8Array.of(0x3a, 0, 10), utf8("FALCON_DET"), new Uint8Array(28));
  const signatures = [...decodeStateProof(stateProof).reveals.values()].map(({ signature, publicKey }) => {
    return { publicKey, signature: concatBytes(header, signature.subarray(2)) };
  });
  return {
    ours: () => checkStateProof(stateProof, message, checkpoint) === undefined,
    yardstick: () => signatures.every(({ publicKey, signature }) => falcon1024.verify(signature, hash, publicKey)),
  };
}

function repeat(verifies: () => boolean): void {
  for (let time = 0; time < TIMES; time++) if (!verifies()) throw new Error("the state proof does not verify");
}

/** Evidence names the state proof, which is kept once, and is verified with the first bundle. */
async function shared(effort: Effort): Promise<Row> {
  const { bundle, evidence, inclusion, stateProof, checkpoint } = testEvidence();
  const { stateProofBase64 = "", ...named } = stateProof;
  const beside = JSON.stringify({ ...evidence, items: [inclusion, named] });
  const [text, trust, proof] = [JSON.stringify(bundle), testHistory(), fromBase64(stateProofBase64)];
  const yardstick = () => {
    for (let one = 0; one < BUNDLES; one++) if (!verify(text, { trust }).verified) throw new Error("not verified");
  };
  const ours = () => {
    const options = { checkpoints: [checkpoint], stateProof: () => proof, memory: new Map() };
    for (let one = 0; one < BUNDLES; one++)
      if (!withEvidence(verify(text, { trust }), text, beside, options).recordedBy) throw new Error("not recorded");
  };
  const turns = await inTurns(
    effort,
    () => cpuTimed(ours),
    () => cpuTimed(yardstick),
  );
  return judge("shared-proof", "ms of CPU", turns, "share", { atMost: 1.1 });
}
