import { createHash } from "node:crypto";
import type { Bundle } from "@attestd/proof";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { checkpointEntry, checkpointRoot, proveCheckpoint } from "@attestd/proof/evidence";
import { canonicalBytes } from "@attestd/proof/json";
import { flip } from "../../../packages/proof/test/flips.ts";
import { testBatchItem } from "../../../test/bundles/batches.ts";
import { testBaseTransaction, testBundle } from "../../../test/bundles/bundles.ts";
import { type TestEvidence, testEvidence } from "../../../test/bundles/evidence.ts";

/* Evidence beside bundles, with the verdict that is right. */

export const own = testEvidence();
const { bundle, evidence, inclusion, stateProof, authorisation, sourceInclusion, sourceStateProof, checkpoint } = own;
const rekeyed = testEvidence(undefined, undefined, "rekeyed");
const forged = testEvidence(undefined, undefined, "nobody");
const other = { ...checkpoint, lnProvenWeight: 7 };
const table = {
  genesisHash: checkpoint.genesisHash,
  firstRound: checkpoint.round - 2 * 16,
  interval: 16,
  entries: Buffer.concat([other, other, checkpoint, other, other].map(checkpointEntry)),
};
const root = checkpointRoot(table);
const path = proveCheckpoint(table, 2);
const proof = fromBase64(stateProof.stateProofBase64 ?? "");
const { stateProofBase64: _, ...named } = stateProof;
const changed = (base64: string, bit: number) => toBase64(flip(fromBase64(base64), bit));
const first = changed(stateProof.siblings[0] ?? "", 3);
const { message } = stateProof;

export type Result = "pass" | "fail" | "not_checked";
export const [pass, fail, open] = ["pass", "fail", "not_checked"] as const;
export type EvidenceCase = [
  name: string,
  results: [
    schema: Result,
    inclusion: Result,
    stateProof: Result,
    authorisation?: Result,
    sourceInclusion?: Result,
    sourceStateProof?: Result,
  ],
  items: unknown[],
  trusts?: string | undefined,
  of?: Of,
];
/** A bundle, and the evidence that is bound to it. */
export type Of = Omit<TestEvidence, "bundle" | "block"> & { bundle: Bundle };

/** Beside another bundle. */
function beside(other: Bundle): Of {
  const digest = createHash("sha256")
    .update(canonicalBytes("batch" in other ? other.batch : other))
    .digest("hex");
  return { ...own, bundle: other, evidence: { ...evidence, bundle: `sha256:${digest}` } };
}
const { b, n, u } = JSON.parse(bundle.attest.note.slice("attestd/v1:j".length));
const stated = { b, n, u };
const txnBytes = fromBase64(bundle.source.txnBytesBase64);
const statement = { block: { hash: b, height: n, time: u } };
const batch = [
  { chain: "algorand", txnBytes, statement },
  { chain: "base", txnBytes: testBaseTransaction(1) },
];
const ofSource = { ...sourceStateProof, stateProofBase64: stateProof.stateProofBase64 };
const source = [sourceInclusion, ofSource];
const otherSource = changed(sourceStateProof.siblings[0] ?? "", 3);

/** By hand from docs/format.md. */
export const OF_EVIDENCE: EvidenceCase[] = [
  ["both items, on a checkpoint that is trusted", [pass, pass, pass], [inclusion, stateProof]],
  ["all items, on a checkpoint that is trusted", [pass, pass, pass, pass, pass, pass], evidence.items],
  ["the source's items, before the others", [pass, pass, pass, pass, pass, pass], evidence.items.toReversed()],
  ["the source's items alone", [pass, open, open, open, pass, pass], source],
  [
    "the source's state proof in the record's item alone",
    [pass, open, open, open, pass, pass],
    [sourceInclusion, sourceStateProof, stateProof],
  ],
  ["the source's state proof nowhere", [pass, open, open, open, pass, open], [sourceInclusion, sourceStateProof]],
  ["the source's stake, without its inclusion", [pass, open, open], [ofSource]],
  ["the source's inclusion alone", [pass, open, open, open, pass], [sourceInclusion]],
  ["a block with a header of its own", [pass, open, open, open, open, pass], [ofSource], undefined, beside(own.block)],
  ["an inclusion beside that", [pass, open, open, open, fail], source, undefined, beside(own.block)],
  [
    "the source of a batch's item",
    [pass, open, open, open, pass, pass],
    source,
    undefined,
    beside(testBatchItem({ items: batch })),
  ],
  [
    "another item of the batch",
    [pass, open, open, open, fail],
    source,
    undefined,
    beside(testBatchItem({ items: batch, index: 1 })),
  ],
  ...([{ b: `${"BLOCK".repeat(10)}AA` }, { n: n + 1 }, { u: u + 1 }] as const).map((other): EvidenceCase => {
    const of = beside(testBundle({ round: 1000, txnBytes, statement: { ...stated, ...other } }));
    return [`a source in another block: ${Object.keys(other)}`, [pass, open, open, open, fail], source, undefined, of];
  }),
  [
    "another source",
    [pass, open, open, open, fail],
    source,
    undefined,
    beside(testBundle({ round: 1000, statement: stated })),
  ],
  ["another place of the source", [pass, open, open, open, fail], [{ ...sourceInclusion, index: 0 }, ofSource]],
  [
    "another way from the source's block to the commitment",
    [pass, open, open, open, pass, fail],
    [sourceInclusion, { ...ofSource, siblings: sourceStateProof.siblings.with(0, otherSource) }],
  ],
  [
    "the record's way in place of the source's",
    [pass, open, open, open, pass, fail],
    [sourceInclusion, { ...ofSource, siblings: stateProof.siblings }],
  ],
  [
    "a path of the source to a trusted root",
    [pass, open, open, open, pass, pass],
    [sourceInclusion, { ...ofSource, path }],
    root,
  ],
  ["no path of the source to the root", [pass, open, open, open, pass, open], source, root],
  ["the source's transaction in its item", [fail, open, open], [{ ...sourceInclusion, txnBytesBase64: "AA==" }]],
  ["an account's signature, without the stake's", [pass, pass, open, pass], [inclusion, authorisation]],
  ["an authorisation alone", [pass, open, open, open], [authorisation]],
  ["another algorithm", [pass, pass, open, fail], [inclusion, { ...authorisation, alg: "falcon-1024" }]],
  [
    "an authorizer that the block does not name",
    [pass, pass, open, fail],
    [inclusion, { ...authorisation, authorizer: bundle.attestor.algorandAddress }],
  ],
  ["an unknown algorithm", [fail, open, open], [inclusion, { ...authorisation, alg: "falcon-512" }]],
  [
    "an authorizer that is no address",
    [fail, open, open],
    [inclusion, { ...authorisation, authorizer: "A".repeat(58) }],
  ],
  [
    "a signature that is nobody's",
    [pass, pass, open, fail],
    [forged.inclusion, forged.authorisation],
    undefined,
    forged,
  ],
  [
    "a rekeyed account, without the stake's word for that",
    [pass, pass, open, open],
    [rekeyed.inclusion, rekeyed.authorisation],
    undefined,
    rekeyed,
  ],
  [
    "a rekeyed account, the authorizer left out",
    [pass, pass, open, fail],
    [rekeyed.inclusion, { type: rekeyed.authorisation.type, alg: "falcon-1024" }],
    undefined,
    rekeyed,
  ],
  ["the order of items does not matter", [pass, pass, pass], [stateProof, { type: "later/1", x: 1 }, inclusion]],
  ["a path to a trusted root", [pass, pass, pass], [inclusion, { ...stateProof, path }], root],
  ["a path to another root", [pass, pass, open], [inclusion, { ...stateProof, path: { ...path, index: 1 } }], root],
  [
    "a path with a hash too many",
    [pass, pass, open],
    [inclusion, { ...stateProof, path: { ...path, hashes: [...path.hashes, path.hashes[0]] } }],
    root,
  ],
  ["no path to the root", [pass, pass, open], [inclusion, stateProof], root],
  ["a state proof that is elsewhere", [pass, pass, open], [inclusion, named]],
  ["nothing", [pass, open, open], []],
  ["an unknown item alone", [pass, open, open], [{ type: "algorand-inclusion/2" }]],
  ["a state proof alone", [pass, open, open], [stateProof]],
  ["an item twice", [fail, open, open], [inclusion, inclusion]],
  ["an item without a type", [fail, open, open], [inclusion, {}]],
  ["a member more", [fail, open, open], [{ ...inclusion, more: 1 }]],
  ["a path out of its table", [fail, open, open], [{ ...stateProof, path: { ...path, index: 5 } }]],
  ["another place", [pass, fail, open], [{ ...inclusion, index: 0 }, stateProof]],
  [
    "another header",
    [pass, fail, open],
    [{ ...inclusion, headerBase64: changed(inclusion.headerBase64, 99) }, stateProof],
  ],
  [
    "another transaction",
    [pass, fail, open],
    [{ ...inclusion, txnBytesBase64: changed(inclusion.txnBytesBase64, 900) }, stateProof],
  ],
  [
    "another way to the commitment",
    [pass, pass, fail],
    [inclusion, { ...stateProof, siblings: stateProof.siblings.with(0, first) }],
  ],
  ["one level too few", [pass, pass, fail], [inclusion, { ...stateProof, siblings: stateProof.siblings.slice(1) }]],
  [
    "another network's checkpoint",
    [pass, pass, fail],
    [inclusion, { ...stateProof, checkpoint: { ...checkpoint, genesisHash: toBase64(new Uint8Array(32)) } }],
  ],
  [
    "rounds after the header's",
    [pass, pass, fail],
    [inclusion, { ...stateProof, message: { ...message, firstAttestedRound: 1009, lastAttestedRound: 1024 } }],
  ],
  [
    "a hash that is not the state proof's",
    [pass, pass, fail],
    [inclusion, { ...stateProof, stateProofSha256: "00".repeat(32) }],
  ],
  [
    "a checkpoint of another weight, on which one participant proves it too",
    [pass, pass, open],
    [inclusion, { ...stateProof, checkpoint: { ...checkpoint, lnProvenWeight: checkpoint.lnProvenWeight + 1 } }],
  ],
];
/** What Python cannot check, having no Falcon. */
export const OF_FALCON: EvidenceCase[] = [
  [
    "a rekeyed account of Falcon-1024",
    [pass, pass, pass, pass, pass, pass],
    rekeyed.evidence.items,
    undefined,
    rekeyed,
  ],
  [
    "a message of another weight",
    [pass, pass, fail],
    [inclusion, { ...stateProof, message: { ...message, lnProvenWeight: 7 } }],
  ],
  ...[4000, 20_000].map((bit): EvidenceCase => {
    const bytes = flip(proof, bit);
    const stateProofSha256 = createHash("sha256").update(bytes).digest("hex");
    const item = { ...stateProof, stateProofSha256, stateProofBase64: toBase64(bytes) };
    return [`bit ${bit} of the state proof`, [pass, pass, fail], [inclusion, item]];
  }),
];
