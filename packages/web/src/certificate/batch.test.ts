import { type BatchAnswer, batchOf, itemBundles, verify } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { fromUtf8, utf8 } from "@attestd/proof/encoding";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testBatch } from "../../../../test/bundles/batches.ts";
import { testAttestor, testHistory } from "../../../../test/bundles/bundles.ts";
import { KINDS, MAKING } from "../../test/certificates/make.ts";
import { judge } from "../judge.ts";
import type { Judged } from "../verdict.ts";
import { makeCertificate, makingOfBatch } from "./certificate.ts";

const [kind, history] = KINDS.batch as (typeof KINDS)[string];
const answer = kind as BatchAnswer;
const bytes = utf8(JSON.stringify(answer));
const OFFLINE = { ...MAKING, ledger: undefined };

async function wordsOf(file: Uint8Array, trust = history) {
  const judgement = await judge(file, { history: trust, historyAge: 0 });
  return judgement.kind === "batch" ? judgement.certificate?.words : judgement.kind;
}

describe.each(["svg", "pdf"] as const)("the certificate of a batch as %s", (format) => {
  const made = makeCertificate(format, bytes, history, OFFLINE).bytes;
  const latin1 = Buffer.from(made).toString("latin1");
  const edited = (from: string, to: string) => {
    expect(latin1).toContain(from);
    return Uint8Array.from(Buffer.from(latin1.replace(from, to), "latin1"));
  };

  test("carries every item, each of which is verified by itself, and matches them", async () => {
    const judgement = await judge(made, { history, historyAge: 0 });
    if (judgement.kind !== "batch") throw new Error(judgement.kind);
    expect(judgement.certificate?.words).toBe("pass");
    expect(judgement.bundles.map((one) => JSON.parse(fromUtf8(one.bytes)))).toEqual(itemBundles(answer));
    for (const one of judgement.bundles) expect(verify(one.bytes, { trust: history }).verified).toBe(true);
  });

  test("names each transaction, and first that one failed", () => {
    const text = latin1.replaceAll("\\", "");
    for (const { statement } of answer.items.slice(0, 4)) {
      // An id is broken at the end of its column.
      for (const part of [statement.txnId.slice(0, 30), statement.txnId.slice(-6)]) expect(text).toContain(part);
      expect(text).toContain(`${statement.block.height} of `);
    }
    expect(text).toContain("1 of them failed on their chain");
    expect(text.indexOf("1 of them failed")).toBeLessThan(text.indexOf("What it certifies"));
    expect(text).toContain("Failed on Base: nothing moved");
  });

  test.each([
    ["an amount", "on Algorand, 1.00", "on Algorand, 9.00"],
    ["the number of them", "40 transactions, recorded", "41 transactions, recorded"],
    ["that one failed", "1 of them failed on", "0 of them failed on"],
    ["the time of a block", "2026-11-21 14:06:07 UTC", "2026-11-21 14:06:08 UTC"],
    ["the height of a block", "38800003 of Base", "38800004 of Base"],
  ])("does not match after an edit of %s", async (_, from, to) => {
    expect(await wordsOf(edited(from, to))).toBe("fail");
  });

  test("is never verified as a whole when a byte is changed: its text or an item fails", async () => {
    const trials = fc.asyncProperty(fc.nat(made.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
      const changed = Uint8Array.from(made);
      changed[at] = (changed[at] ?? 0) ^ change;
      const judgement = await judge(changed, { history, historyAge: 0 });
      if (judgement.kind !== "batch" || judgement.certificate?.words !== "pass") return;
      expect(judgement.bundles.every((one) => verify(one.bytes, { trust: history }).verified)).toBe(false);
    });
    await fc.assert(trials, { numRuns: 10 });
  });

  test("is not compared for those who do not know the signer, and lacks no item", async () => {
    const strangers = testHistory([{ attestor: testAttestor("stranger"), fromRound: 1 }]);
    expect(await wordsOf(made, strangers)).toBe("not_checked");
    const lacking = utf8(JSON.stringify({ ...answer, items: answer.items.slice(1) }));
    expect(() => makeCertificate(format, lacking, history, OFFLINE)).toThrow(/must be 40/);
  });
});

test("is made only of items that are all verified, and checked in one way", () => {
  const keys = { history, basis: { basis: "file" as const, name: "keys.json", since: 0 } };
  const judged = itemBundles(answer).map((bundle): Judged => {
    return { report: verify(bundle, { trust: history }), bundle, subject: subjectOf(bundle), keys };
  });
  const [first, ...others] = judged as [Judged, ...Judged[]];
  expect(makingOfBatch(judged, new Date(999), "a4").checkedAt).toBe("1970-01-01T00:00:00Z");
  const bad = { ...first, report: verify(first.bundle, { trust: testHistory([]) }) };
  expect(() => makingOfBatch([...others, bad], new Date(0), "a4")).toThrow(/Only a verified bundle/);
  const report = { ...first.report, checks: { ...first.report.checks, chainAttest: "pass" as const } };
  const compared = { ...first, report, comparedBy: "attestd.example" };
  expect(() => makingOfBatch([...others, compared], new Date(0), "a4")).toThrow(/not all checked/);
});

test("the answer is made again from its items in any order, and from nothing less", () => {
  const bundles = itemBundles(answer);
  const copies = bundles.toReversed().map((bundle) => structuredClone(bundle));
  expect(batchOf(copies)).toEqual(answer);
  expect(() => batchOf(bundles.slice(1))).toThrow(/each of the 40 once/);
  expect(() => batchOf([...bundles.slice(1), bundles[1] as (typeof bundles)[number]])).toThrow(/each of the 40 once/);
  const other = itemBundles(testBatch())[0] as (typeof bundles)[number];
  expect(() => batchOf([...bundles.slice(1), other])).toThrow(/same in every item/);
});
