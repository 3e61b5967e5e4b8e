import { verify } from "@attestd/proof";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { withEvidence } from "@attestd/proof/evidence";
import { mainnetProofs, type Proven } from "../packages/proof/test/state-proofs.ts";
import { readVectors } from "../packages/proof/test/vectors.ts";
import { testHistory } from "../test/bundles/bundles.ts";
import { testEvidence } from "../test/bundles/evidence.ts";
import { openPageWith } from "./chromium-page.ts";
import { cpuTimed, type Effort, inTurns, judge, type Row } from "./measure.ts";
import { stateProofSides } from "./state-proof-work.ts";

const TIMES = 5;
const BUNDLES = 1000;

/**
 * A state proof of MainNet, beside noble's verification of the Falcon signatures in it, in CPU time of Node and in time of
 * Chromium; and bundles that share a state proof, beside the same without evidence.
 */
export async function run(effort: Effort): Promise<Row[]> {
  const vectors = readVectors();
  if (vectors === undefined)
    console.error("state-proof: left out, since ATTESTD_VECTORS does not name the folder of test vectors");
  const proven = vectors ? [mainnetProofs(vectors)[0] as Proven] : [];
  const rows: Row[] = [];
  for (const one of proven) rows.push(await inNode(one, effort), await inChromium(one, effort));
  return [...rows, await shared(effort)];
}

async function inNode({ stateProof, message, checkpoint }: Proven, effort: Effort): Promise<Row> {
  const { ours, yardstick } = stateProofSides(stateProof, message, checkpoint);
  const warm = { ...effort, warmUp: effort.warmUp + 3 };
  const turns = await inTurns(
    warm,
    () => cpuTimed(() => ours(TIMES)),
    () => cpuTimed(() => yardstick(TIMES)),
  );
  return judge("state-proof", "ms of CPU", turns, "share", { atMost: 1.5 });
}

async function inChromium({ stateProof, message, checkpoint }: Proven, effort: Effort): Promise<Row> {
  await using opened = await openPageWith(new URL("./state-proof-page.ts", import.meta.url));
  const { page } = opened;
  const given = { stateProofBase64: toBase64(stateProof), message, checkpoint };
  const side = (name: "ours" | "yardstick") => () =>
    page.evaluate(([of, what, times]) => timeStateProof(of, what, times), [name, given, TIMES] as const);
  const turns = await inTurns({ ...effort, warmUp: effort.warmUp + 3 }, side("ours"), side("yardstick"));
  return judge("state-proof-browser", "ms", turns, "share", { atMost: 1.5 });
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
