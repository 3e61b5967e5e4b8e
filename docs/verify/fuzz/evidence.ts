import { createHash } from "node:crypto";
import { utf8 } from "@attestd/proof/encoding";
import { ODD_SIGNERS } from "../../../packages/proof/test/odd-signatures.ts";
import { testAttestor, testHistory } from "../../../test/bundles/bundles.ts";
import { type TestEvidence, testEvidence } from "../../../test/bundles/evidence.ts";
import { alterItem, type Item } from "./evidence-items.ts";
import { type Made, madeEvidence } from "./evidence-made.ts";
import { canonicalJson } from "./keys.ts";
import { alterItems, type Random } from "./random.ts";
import { hex } from "./subjects.ts";
import { spell, spoil } from "./text.ts";
import { alterValue, type Json } from "./values.ts";

/*
 * Evidence beside a bundle: some with a state proof by a network of one participant, some made for each case, in whose transactions,
 * entries and headers anything may be wrong.
 */

const V38 = "https://github.com/algorandfoundation/specs/tree/abd3d4823c6f77349fc04c3af7b1e99fe4df699f";
/** Made when they are first needed: their signatures by Falcon take longer than all else. */
let signed: readonly TestEvidence[] | undefined;

function signedEvidence(): readonly TestEvidence[] {
  signed ??= [
    testEvidence(),
    testEvidence(undefined, undefined, "rekeyed"),
    testEvidence(undefined, undefined, "nobody"),
    testEvidence(undefined, new Uint8Array(1793).fill(9)),
    testEvidence(undefined, undefined, undefined, { header: { proto: V38, seed: new Uint8Array(32).fill(7) } }),
    ...ODD_SIGNERS.map(([, , signer]) => testEvidence(undefined, undefined, signer)),
  ];
  return signed;
}

function pickSigned(random: Random): Made {
  const { bundle, block, evidence, checkpoint } = random.pick(signedEvidence());
  const items = structuredClone(evidence.items) as unknown as Item[];
  return { bundle: random.once(4) ? block : bundle, items, checkpoint: checkpoint as unknown as Json };
}

/** What is altered of evidence: an item by what it means, any of its values, the items, and the text. */
type Layer = "item" | "value" | "items" | "spelling" | "text";
const LAYERS: [weight: number, layer: Layer][] = [
  [10, "item"],
  [5, "value"],
  [3, "items"],
  [2, "spelling"],
  [2, "text"],
];
const UNKNOWN: Json[] = [
  { type: "later/1", x: [null, { y: 1 }] },
  { type: "later/1", x: 1.5 },
  { type: "algorand-inclusion/2" },
  { type: "" },
  { type: 1 },
  {},
  null,
  [],
  "algorand-inclusion/1",
];

/** What the verifiers are given. */
export type Given = {
  keys: Uint8Array | string;
  subject: Uint8Array;
  evidence: { bytes: Uint8Array; trusted: Uint8Array | string };
};

export function makeEvidence(random: Random): Given {
  const { bundle, items, checkpoint } = random.once(2) ? madeEvidence(random) : pickSigned(random);
  const times = random.weigh([
    [2, 0],
    [8, 1],
    [3, 2],
  ]);
  const layers = Array.from({ length: times }, () => random.weigh(LAYERS));
  for (const layer of layers) {
    if (layer === "item" && items.length > 0) alterItem(random, items);
    if (layer === "items")
      alterItems(random, items, () => structuredClone(random.pick([...UNKNOWN, ...items])) as Item);
  }
  const evidence: Record<string, Json> = { format: "attestd.evidence/1", bundle: digestOf(bundle), items };
  if (layers.includes("value")) alterValue(random, evidence);
  const text = layers.includes("spelling") ? spell(random, evidence) : canonicalJson(evidence);
  const bytes = layers.includes("text") ? spoil(random, text) : utf8(text);
  const trusted = random.once(8) ? hex(random.bytes(32)) : utf8(canonicalJson(checkpoint));
  // A history costs each verifier more than the name of a key.
  const keys = random.once(4) ? utf8(canonicalJson(testHistory() as unknown as Json)) : testAttestor().kid;
  return { keys, subject: utf8(canonicalJson(bundle as unknown as Json)), evidence: { bytes, trusted } };
}

function digestOf(bundle: Made["bundle"]): string {
  const own = "batch" in bundle ? bundle.batch : bundle;
  return `sha256:${createHash("sha256")
    .update(canonicalJson(own as unknown as Json))
    .digest("hex")}`;
}
