import { type Bundle, type Statement, verify } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { expect, test } from "vitest";
import { CASES, HISTORIES } from "../../../docs/verify/bundles.ts";
import { factsOf, headlineOf } from "./file-facts.ts";
import { type Judged, verdictOf } from "./verdict.ts";

const basis = { basis: "origin", name: "attestd.example", since: Date.UTC(2026, 10, 22) } as const;
const keys = { history: HISTORIES.keys, basis };

/** Judges the bundle of a Base transaction, as verified. */
function judged(receipt: "succeeded" | "failed" | "unknown"): Judged[] {
  return CASES.filter((one) => one.receipt === receipt && one.keys === "keys" && one.failed.length === 0).map(
    ({ text }) => {
      const bundle: Bundle = JSON.parse(text);
      return { report: verify(text, { trust: keys.history }), bundle, subject: subjectOf(bundle), keys };
    },
  );
}

test.each([
  ["succeeded", "Succeeded", "passed", undefined],
  ["failed", /^Failed: nothing moved\./, "caution", "✕"],
  ["unknown", /^Not known/, "passed", "?"],
] as const)(
  "the outcome of a transaction with a receipt is shown, a failure first: %s",
  (outcome, words, tone, icon) => {
    const all = judged(outcome);
    expect(all.length).toBeGreaterThan(0);
    for (const one of all) {
      const text = factsOf(one).find(({ label }) => label === "Outcome")?.text;
      expect(text).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
      const { title = "", mark } = headlineOf(one) ?? {};
      expect(mark?.icon).toBe(icon);
      const verdict = verdictOf(one);
      expect(verdict.tone).toBe(tone);
      expect(title.startsWith("Failed on Base: ")).toBe(outcome === "failed");
      expect(verdict.sentences[0] === `${title}.`).toBe(outcome === "failed");
    }
  },
);

test("block, time and outcome are those that the note states", () => {
  const [one] = judged("succeeded");
  const block = { hash: `0x${"ab".repeat(32)}`, height: 46_000_007, time: Date.UTC(2026, 10, 21, 14, 3, 7) / 1000 };
  const { receipt: _, ...report } = (one as Judged).report;
  const statement: Statement = { block, outcome: "failed" };
  const shown = factsOf({ ...(one as Judged), report: { ...report, statement } });
  expect(shown).toContainEqual({ label: "Time", text: "21 November 2026 at 14:03:07 UTC, by its block's clock" });
  expect(shown).toContainEqual({ label: "Block", text: "46000007 of Base" });
  expect(shown.find(({ label }) => label === "Block hash")?.id).toBe(block.hash);
  expect(shown.find(({ label }) => label === "Outcome")?.text).toMatch(/^Failed/);
});
