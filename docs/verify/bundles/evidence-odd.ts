import { createHash } from "node:crypto";
import { decodeMsgpackMap, encodeMsgpack, structMap } from "@attestd/proof/algorand";
import { ODD_SIGNERS } from "../../../packages/proof/test/odd-signatures.ts";
import { testEvidence } from "../../../test/bundles/evidence.ts";
import { type EvidenceCase, fail, open, own, pass } from "./evidence.ts";
import { v38, v39 } from "./ingredients.ts";

/* Evidence that verifiers once judged differently, or on which the page was silent. */

const { inclusion, stateProof, sourceInclusion, sourceStateProof, checkpoint } = own;
const { stateProofBase64: _, ...named } = stateProof;
const { message } = stateProof;

/** Headers of a consensus version, with or without a seed. */
function ofVersion(commit: string, seed: { seed?: Uint8Array }, lightLeaf?: (header: Uint8Array) => Uint8Array) {
  const proto = `https://github.com/algorandfoundation/specs/tree/${commit}`;
  return testEvidence(undefined, undefined, undefined, { header: { proto, ...seed }, ...(lightLeaf && { lightLeaf }) });
}

/** The leaf of v34 to v38, but without the seed. */
function seedlessLeaf(header: Uint8Array): Uint8Array {
  const { gh, rnd: r, txn256: tc } = Object.fromEntries(decodeMsgpackMap(header));
  const light = encodeMsgpack(structMap({ gh, r, tc }));
  return new Uint8Array(createHash("sha256").update("B256").update(light).digest());
}

const seed = new Uint8Array(32).fill(7);
const older = ofVersion(v38, { seed });
const seedless = ofVersion(v38, {}, seedlessLeaf);
const later = ofVersion(v39, {});
const withTxns = testEvidence(undefined, undefined, undefined, { header: { txns: [1] } });
const keyedByInteger = testEvidence(undefined, undefined, "rekeyed", { pqMember: [1, 1] });

export const ODD_EVIDENCE: EvidenceCase[] = [
  ["a header of v38 with its seed", [pass, pass, pass, pass, pass, pass], older.evidence.items, undefined, older],
  [
    "a header of v38 without its seed",
    [pass, pass, fail, pass, pass, fail],
    seedless.evidence.items,
    undefined,
    seedless,
  ],
  ["a header of v39 without a seed", [pass, pass, pass, pass, pass, pass], later.evidence.items, undefined, later],
  ["a header with txns", [pass, pass, pass, pass, pass, pass], withTxns.evidence.items, undefined, withTxns],
  ["a number that is no integer in an unknown item", [fail, open, open], [inclusion, { type: "later/1", x: 1.5 }]],
  ["a number with an exponent in an unknown item", [fail, open, open], [inclusion, { type: "later/1", x: 1e-7 }]],
  [
    "an unknown item of nested members",
    [pass, pass, open],
    [{ type: "later/1", x: [null, true, { y: "" }] }, inclusion],
  ],
  [
    "a state proof in an unknown item alone",
    [pass, pass, open],
    [inclusion, named, { type: "later/1", stateProofSha256: named.stateProofSha256, stateProofBase64: 5 }],
  ],
  [
    "a message that does not follow its checkpoint, the state proof elsewhere",
    [pass, pass, fail],
    [inclusion, { ...named, checkpoint: { ...checkpoint, round: checkpoint.round - 16 } }],
  ],
  [
    "the source's message, which does not follow its checkpoint",
    [pass, open, open, open, pass, fail],
    [sourceInclusion, { ...sourceStateProof, checkpoint: { ...checkpoint, round: 0 } }],
  ],
  [
    "a message whose last round is before its first",
    [pass, pass, fail],
    [inclusion, { ...named, message: { ...message, lastAttestedRound: 1 } }],
  ],
  [
    "a source's state proof in the other item, which is not of its hash",
    [pass, open, open, open, pass, fail],
    [sourceInclusion, sourceStateProof, { ...stateProof, stateProofBase64: "AA==" }],
  ],
  [
    "a member more of pqsig, under an integer",
    [pass, pass, open, fail],
    [keyedByInteger.inclusion, keyedByInteger.authorisation],
    undefined,
    keyedByInteger,
  ],
  ...ODD_SIGNERS.map(([name, isTaken, signer]): EvidenceCase => {
    const of = testEvidence(undefined, undefined, signer);
    // Whose key another account's is, stake alone says.
    const result = isTaken ? open : fail;
    return [name, [pass, pass, open, result], [of.inclusion, of.authorisation], undefined, of];
  }),
];

/** What Python cannot check, having no Falcon. */
export const ODD_FALCON: EvidenceCase[] = ODD_SIGNERS.map(([name, isTaken, signer]): EvidenceCase => {
  const of = testEvidence(undefined, undefined, signer);
  const result = isTaken ? pass : fail;
  return [`${name}, and the stake`, [pass, pass, pass, result, pass, pass], of.evidence.items, undefined, of];
});
