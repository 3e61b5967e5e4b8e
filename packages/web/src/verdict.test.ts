import { type Bundle, type KeyHistory, type VerifyReport, verify, withChain } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { describe, expect, test } from "vitest";
import {
  testAttestor,
  testBaseBlock,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
} from "../../../test/bundles/bundles.ts";
import { checkRows, difference } from "./checks.ts";
import { factsOf } from "./file-facts.ts";
import { hostOf } from "./printable.ts";
import { type Judged, verdictOf } from "./verdict.ts";

const attestor = testAttestor();
const OTHER_LEDGER = "algorand:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const THIRD_LEDGER = "algorand:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
const since = Date.UTC(2026, 0, 2);

type Given = { history?: KeyHistory; historyAge?: number; chain?: Parameters<typeof withChain>[1] };

function judge(bundle: Bundle, { history = testHistory(), historyAge = 0, chain }: Given = {}): Judged {
  const offline = verify(bundle, { trust: history, historyAge });
  const report: VerifyReport = chain ? withChain(offline, chain) : offline;
  const keys = { history, basis: { basis: "origin" as const, name: "attestd.example", since } };
  return { report, bundle, subject: subjectOf(bundle), keys, ...(chain && { comparedBy: "attestd.example" }) };
}

const bundle = testBundle({ round: 1000 });
const successor = testAttestor("next");
const retired = testHistory([
  { attestor, fromRound: 1 },
  { attestor: successor, fromRound: 2000 },
]);
const revoked = testHistory([{ attestor, fromRound: 1, revokedRound: 2000 }]);
const elsewhere = { ...bundle, attest: { ...bundle.attest, round: 1001 } };

const VERDICTS: [string, Judged, string, RegExp][] = [
  [
    "verified",
    judge(bundle),
    "verified",
    /attestd\.example signed it\. It states that this Algorand transaction was recorded/,
  ],
  ["of a block", judge(testBlockBundle()), "verified", /this Algorand block was recorded/],
  [
    "of an inclusion",
    judge(testInclusionBundle({ block: testBaseBlock(3) })),
    "verified",
    /It proves that this Base transaction is in block 46000000\. It states that this Base block was recorded/,
  ],
  [
    "of an inclusion, found on the ledger",
    judge(testInclusionBundle({ block: testBaseBlock(3) }), { chain: { chainSource: "pass", chainAttest: "pass" } }),
    "verified_found",
    /It proves that this Base transaction is in block 46000000\. This Base block is recorded/,
  ],
  [
    "by a replaced key",
    judge(bundle, { history: retired }),
    "verified",
    /with a key current in round 1000, replaced since/,
  ],
  [
    "by a withdrawn key",
    judge(bundle, { history: revoked }),
    "revoked",
    /withdrawn in round 2000; .* The ledger check can/,
  ],
  [
    "by a key withdrawn after the ledger recorded the bundle",
    judge(bundle, { history: revoked, chain: { chainSource: "pass", chainAttest: "pass" } }),
    "verified_found",
    /withdrawn in round 2000, after the ledger had recorded it\. .* is recorded on Algorand in round 1000/,
  ],
  [
    "by a withdrawn key, and not on the ledger",
    judge(bundle, { history: revoked, chain: { chainAttest: [{ message: "not found" }] } }),
    "failed",
    /Don't rely on it/,
  ],
  ["by an unknown signer", judge(testBundle({ attestor: successor })), "unknown", /Anyone could have made it/],
  ["changed", judge(elsewhere), "failed", /^Changed after signing/],
  ["of a sandbox, for keys of MainNet", judge(testBundle({ ledger: OTHER_LEDGER })), "elsewhere", /made in a sandbox/],
  [
    "of MainNet, for keys of a sandbox",
    judge(testBundle({ attestor: successor }), { history: testHistory(undefined, OTHER_LEDGER) }),
    "elsewhere",
    /made for Algorand MainNet, and the keys here are a sandbox's/,
  ],
  [
    "of another sandbox",
    judge(testBundle({ attestor: successor, ledger: THIRD_LEDGER }), {
      history: testHistory(undefined, OTHER_LEDGER),
    }),
    "elsewhere",
    /made in another sandbox, or in this one before .*--fresh/,
  ],
  [
    "of another sandbox, and changed",
    judge(
      { ...testBundle({ ledger: THIRD_LEDGER }), attest: { ...bundle.attest, round: 7 } },
      { history: testHistory(undefined, OTHER_LEDGER) },
    ),
    "failed",
    /^Changed after signing/,
  ],
  [
    "of a round before its key's first",
    judge(bundle, { history: testHistory([{ attestor, fromRound: 1001 }]) }),
    "failed",
    /^Its key was not/,
  ],
  [
    "contradicted by the ledger",
    judge(bundle, { chain: { chainSource: "pass", chainAttest: [{ pointer: "/attest/round" }] } }),
    "failed",
    /^The chains differ from this file/,
  ],
  [
    "seen only as included",
    judge(testBundle({ chain: "base", txnBytes: testBaseBlock(1).transactions[0] as Uint8Array, level: "included" })),
    "warning",
    /could be undone/,
  ],
  ["by an old key list", judge(bundle, { historyAge: 31 * 86_400 }), "warning", /Key list is from 2026-01-02/],
  [
    "of a sandbox",
    judge(testBundle({ ledger: OTHER_LEDGER }), { history: testHistory(undefined, OTHER_LEDGER) }),
    "warning",
    /^Sandbox, not real\. .* recorded on the sandbox's ledger/,
  ],
];

describe("the verdict", () => {
  test.each(VERDICTS)("of a bundle %s", (_, judged, state, sentence) => {
    const verdict = verdictOf(judged);
    expect(verdict.state).toBe(state);
    expect(verdict.sentences.join(" ")).toMatch(sentence);
    // The tone follows the report.
    expect(verdict.tone === "passed" || verdict.state.startsWith("warning")).toBe(judged.report.verified);
  });

  test.each(VERDICTS)("of a bundle %s claims only what was checked", (_, judged) => {
    const { report } = judged;
    const shown = [...verdictOf(judged).sentences, ...checkRows(judged).map(({ sentence }) => sentence)].join(" ");
    // Only an inclusion is checked for being in the block.
    if (report.checks.inclusion !== "pass") expect(shown).not.toMatch(/proves/);
    if (report.checks.chainAttest !== "pass") expect(shown).not.toMatch(/is recorded on|Found on \S+ in round/);
    const facts = factsOf(judged);
    if (!report.verified || report.warnings.includes("sandbox"))
      expect(facts.filter(({ link }) => link !== undefined)).toEqual([]);
    if (!report.verified) expect(facts.map(({ label }) => label)).not.toContain("Signed by");
    if (report.checks.signature === "fail") expect(shown).not.toMatch(/(current|A) key of attestd\.example[.,] /);
  });

  test("differs between tones by more than colour", () => {
    const signs = new Map(VERDICTS.map(([, judged]) => [verdictOf(judged).tone, verdictOf(judged)]));
    const looks = [...signs.values()].map(({ icon, heading }) => `${icon} ${heading}`);
    expect(new Set(looks).size).toBe(looks.length);
  });

  test("tells what was found on the ledger from what only states it, by icon and by words", () => {
    const chain = { chainSource: "pass", chainAttest: "pass" } as const;
    for (const historyAge of [0, 31 * 86_400]) {
      const offline = verdictOf(judge(bundle, { historyAge }));
      const found = verdictOf(judge(bundle, { historyAge, chain }));
      expect(found.tone).toBe(offline.tone);
      expect(found.icon).not.toBe(offline.icon);
      expect([offline.heading, found.heading].map((heading) => /found on the ledger/i.test(heading))).toEqual([
        false,
        true,
      ]);
    }
  });

  test("calls a key unconfirmed when the signature is invalid", () => {
    const row = checkRows(judge(elsewhere)).find(({ check }) => check === "keyTrust");
    expect(row?.sentence).toBe("The file names a key of attestd.example; unconfirmed.");
  });
});

test("the time of the record is shown only after the ledger check", () => {
  const recordedAt = "2026-03-04T05:06:07.000Z";
  const found = judge(bundle, { chain: { chainSource: "pass", chainAttest: "pass", recordedAt } });
  expect(verdictOf(found).sentences).toContain(
    "This Algorand transaction is recorded on Algorand in round 1000, 2026-03-04 05:06:07 UTC.",
  );
  expect(factsOf(found)).toContainEqual({ label: "Recorded", text: "Algorand, round 1000; 2026-03-04 05:06:07 UTC" });
  const other = judge(bundle, { chain: { chainAttest: [{ pointer: "/attest/round" }], recordedAt } });
  expect(other.report.recordedAt).toBeUndefined();
});

test("difference finds exactly the part in which two values differ", () => {
  expect(difference("abcdef", "abXdef")).toEqual({ start: 2, fromEnd: 3 });
  expect(difference("aa", "aaa")).toEqual({ start: 2, fromEnd: 0 });
  expect(difference("", "x")).toEqual({ start: 0, fromEnd: 0 });
});

test.each([
  ["https://attestd.example:8443", "attestd.example:8443"],
  ["https://ATTESTD.example", "attestd.example"],
  ["https://xn--e1awd7f.example", "xn--e1awd7f.example"],
  ["https://a\u202eb", "https://a\\u{202e}b"],
  ["https://a\u0007b", "https://a\\u{7}b"],
])("hostOf(%j) escapes characters that could reorder text", (origin, shown) => {
  expect(hostOf(origin)).toBe(shown);
});
