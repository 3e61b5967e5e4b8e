import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { testBatchItem } from "../../../../test/bundles/batches.ts";
import { testBaseTransaction, testBundle, testHistory } from "../../../../test/bundles/bundles.ts";
import { testEvidence } from "../../../../test/bundles/evidence.ts";
import { flipped } from "../../test/flips.ts";
import { readNodeStateProof } from "../../test/node-state-proof.ts";
import { vectors } from "../../test/vectors.ts";
import {
  algorandCaip2,
  encodeMsgpack,
  getBytes,
  getInteger,
  type MsgpackMap,
  restoreTransaction,
  splitBlock,
} from "../algorand/index.ts";
import { type Bundle, signedPart } from "../bundle.ts";
import { fromBase64, toBase32, toBase64 } from "../encoding.ts";
import { canonicalBytes } from "../json/canonical.ts";
import type { VerifyReport } from "../report.ts";
import { verify } from "../verify.ts";
import { type Evidence, type EvidenceOptions, withEvidence } from "./index.ts";

const { bundle, block, stateProof, inclusion, sourceInclusion, sourceStateProof, checkpoint } = testEvidence();
const trusted = { checkpoints: [checkpoint] };
const whole = { ...sourceStateProof, stateProofBase64: stateProof.stateProofBase64 as string };

const reports = new Map<Bundle, VerifyReport>();

/** Returns the findings of `withEvidence` about the source, for these items and a verified bundle. */
function judge(of: Bundle, items: Evidence["items"], options: EvidenceOptions = trusted, ledger?: string) {
  const report = reports.get(of) ?? verify(of, { trust: testHistory(undefined, ledger) });
  reports.set(of, report);
  expect(report.verified).toBe(true);
  const digest = createHash("sha256")
    .update(canonicalBytes(signedPart(of)))
    .digest("hex");
  const { verified, evidence, sourceRecordedBy } = withEvidence(
    report,
    of,
    { format: "attestd.evidence/1", bundle: `sha256:${digest}`, items },
    options,
  );
  const { sourceInclusion, sourceStateProof, failures = [] } = evidence ?? {};
  const at = failures.map(({ check, pointer }) => `${check} ${pointer}`);
  return { verified, results: [sourceInclusion, sourceStateProof], at, round: sourceRecordedBy?.round };
}
const [pass, open, fail] = ["pass", "not_checked", "fail"] as const;

describe("evidence of the source's own block", () => {
  it("shows that stake has signed for it, whatever shows the attestation", () => {
    const found = { verified: true, results: [pass, pass], at: [], round: 995 };
    expect(judge(bundle, [sourceInclusion, whole])).toEqual(found);
    expect(judge(bundle, [inclusion, stateProof, sourceInclusion, sourceStateProof])).toEqual(found);
    expect(judge(bundle, [sourceStateProof, sourceInclusion, stateProof])).toEqual(found);
  });

  it("shows it of the header that a block's bundle has itself", () => {
    expect(judge(block, [whole])).toEqual({ verified: true, results: [open, pass], at: [], round: 995 });
    expect(judge(block, [sourceInclusion, whole])).toMatchObject({
      verified: false,
      at: ["sourceInclusion /items/0"],
    });
  });

  it("leaves unchecked what is missing, not at hand or not trusted", () => {
    expect(judge(bundle, [])).toMatchObject({ verified: true, results: [open, open] });
    expect(judge(bundle, [whole])).toMatchObject({ verified: true, results: [open, open] });
    expect(judge(bundle, [sourceInclusion])).toMatchObject({ verified: true, results: [pass, open] });
    expect(judge(bundle, [sourceInclusion, sourceStateProof])).toMatchObject({ verified: true, results: [pass, open] });
    expect(judge(bundle, [sourceInclusion, whole], {})).toMatchObject({ verified: true, results: [pass, open] });
  });

  it("is of this source, its block and its chain", () => {
    const of = (statement: object) => testBundle({ txnBytes: fromBase64(bundle.source.txnBytesBase64), statement });
    const { block: stated } = verify(bundle).statement ?? { block: { hash: "", height: 0, time: 0 } };
    const right = { b: stated.hash, n: stated.height, u: stated.time };
    const wrong = { verified: false, results: [fail, open] };
    expect(judge(of(right), [sourceInclusion, whole])).toMatchObject({ verified: true });
    for (const other of [{ b: `${"BLOCK".repeat(10)}AA` }, { n: right.n + 1 }, { u: right.u + 1 }])
      expect(judge(of({ ...right, ...other }), [sourceInclusion, whole])).toMatchObject({
        ...wrong,
        at: ["sourceInclusion /items/0/headerBase64"],
      });
    const another = testBundle({ statement: right });
    expect(judge(another, [sourceInclusion, whole])).toMatchObject({
      ...wrong,
      at: ["sourceInclusion /items/0/siblings"],
    });
    const elsewhere = testBundle({ chain: "base", txnBytes: testBaseTransaction(1) });
    expect(judge(elsewhere, [sourceInclusion])).toMatchObject(wrong);
  });

  it("is of one item of a batch", () => {
    const { hash, height, time } = verify(bundle).statement?.block ?? { hash: "", height: 0, time: 0 };
    const txnBytes = fromBase64(bundle.source.txnBytesBase64);
    const items = [
      { chain: "algorand", txnBytes, statement: { block: { hash, height, time } } },
      { chain: "algorand", txnBytes: fromBase64(testBundle().source.txnBytesBase64) },
    ];
    expect(judge(testBatchItem({ items, index: 0 }), [sourceInclusion, whole])).toMatchObject({
      verified: true,
      round: 995,
    });
    expect(judge(testBatchItem({ items, index: 1 }), [sourceInclusion, whole])).toMatchObject({
      results: [fail, open],
    });
  });

  it("is accepted with no bit changed", () => {
    const changes = [
      ...["headerBase64", "stibBase64"].flatMap((name) => {
        const bytes = fromBase64(sourceInclusion[name as "stibBase64"]);
        return [...flipped(bytes, 3)].map((changed) => [{ ...sourceInclusion, [name]: toBase64(changed) }, whole]);
      }),
      ...sourceInclusion.siblings.flatMap((hash, place) =>
        [...flipped(fromBase64(hash), 3)].map((changed) => {
          return [{ ...sourceInclusion, siblings: sourceInclusion.siblings.with(place, toBase64(changed)) }, whole];
        }),
      ),
      ...whole.siblings.flatMap((hash, place) =>
        [...flipped(fromBase64(hash), 3)].map((changed) => {
          return [sourceInclusion, { ...whole, siblings: whole.siblings.with(place, toBase64(changed)) }];
        }),
      ),
    ] as Evidence["items"][];
    expect(changes.length).toBeGreaterThan(900);
    const options = { ...trusted, memory: new Map() };
    expect(judge(bundle, [sourceInclusion, whole], options).verified).toBe(true);
    expect(changes.filter((items) => judge(bundle, items, options).verified)).toEqual([]);
  });
});

describe("the source's block of a real node", () => {
  it("is shown from the transaction to the commitment that stake signed for", () => {
    const recorded = vectors.json("state-proof/private-256-transaction.json");
    const { header, headerBytes, transactions } = splitBlock(fromBase64(recorded.blockMsgpack));
    const [entry] = transactions as [MsgpackMap];
    const gh = getBytes(header, "gh", 32) as Uint8Array;
    const ledger = algorandCaip2(gh);
    const txnBytes = encodeMsgpack(restoreTransaction(entry, header));
    const hash = createHash("sha512-256").update("BH").update(headerBytes).digest();
    const statement = { b: toBase32(hash), n: recorded.round, u: Number(getInteger(header, "ts")) };
    const of = testBundle({ ledger, txnBytes, statement });
    expect(of.source.txnId).toBe(recorded.txid);

    const { proof, idx } = recorded.transactionProof;
    expect(proof).toBe("");
    const shown = {
      type: "algorand-source-inclusion/1",
      headerBase64: toBase64(headerBytes),
      index: idx,
      stibBase64: toBase64(encodeMsgpack(entry)),
      siblings: [],
    };
    const path = Buffer.from(recorded.lightHeaderProof.proof, "base64");
    const siblings = Array.from({ length: 8 }, (_, level) => path.subarray(32 * level, 32 * level + 32));
    const { message, stateProof: content } = readNodeStateProof(recorded.stateProof);
    const genesisHash = toBase64(gh);
    const signed = {
      type: "algorand-source-state-proof/1",
      siblings: siblings.map(toBase64),
      message,
      stateProofSha256: createHash("sha256").update(content).digest("hex"),
      checkpoint: { genesisHash, round: 2048, votersCommitment: message.votersCommitment, lnProvenWeight: 1 },
    };
    // The recording lacks the participants that the previous state proof named, so the stake is not checked.
    expect(judge(of, [shown, signed], {}, ledger)).toEqual({ verified: true, results: [pass, open], at: [] });
    const other = { ...signed, siblings: signed.siblings.with(7, signed.siblings[0] as string) };
    expect(judge(of, [shown, other], {}, ledger)).toMatchObject({ verified: false, results: [pass, fail] });
  });
});
