import { type Bundle, type KeyHistory, parseBundle, parseJson, verify } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { fromUtf8, utf8 } from "@attestd/proof/encoding";
import { expect, test } from "vitest";
import { CASES, HISTORIES } from "../../../../docs/verify/bundles.ts";
import { testBundle, testHistory } from "../../../../test/bundles/bundles.ts";
import { type Judged, verdictOf } from "../verdict.ts";
import { makeCertificate, makingOf } from "./certificate.ts";

const history = HISTORIES.keys;

/** Makes a bundle's certificate as the page does. */
function certificateOf(text: string, bundle: Bundle, history: KeyHistory) {
  const keys = {
    history,
    basis: { basis: "origin", name: "attestd.example", since: Date.UTC(2026, 10, 22) },
  } as const;
  const judged: Judged = { report: verify(text, { trust: history }), bundle, subject: subjectOf(bundle), keys };
  const making = makingOf(judged, new Date(Date.UTC(2026, 10, 22)), "a4");
  return { svg: fromUtf8(makeCertificate("svg", utf8(text), history, making).bytes), judged };
}

const ON_CERTIFICATE = { succeeded: />Succeeded</, failed: />Failed: [a-z]+/, unknown: />Not known: [a-z]+/ } as const;

test.each(["succeeded", "failed", "unknown"] as const)(
  "certificates show the outcome in a transaction's receipt: %s",
  (outcome) => {
    const cases = CASES.filter(({ receipt, keys, failed }) => receipt === outcome && keys === "keys" && !failed.length);
    expect(cases.length).toBeGreaterThan(0);
    for (const { text } of cases) {
      const bundle = parseBundle(parseJson(text));
      const { svg, judged } = certificateOf(text, bundle, history);
      expect(svg).toMatch(ON_CERTIFICATE[outcome]);
      expect(svg.includes(">Failed on Base: ")).toBe(outcome === "failed");
      expect(verdictOf(judged).tone === "passed").toBe(outcome !== "failed");
    }
  },
);

test("a certificate states a time beyond the calendar in seconds", () => {
  const bundle = testBundle({ statement: { u: 2 ** 53 - 1 } });
  const { svg } = certificateOf(JSON.stringify(bundle), bundle, testHistory());
  expect(svg).toContain("9007199254740991 s after 1970");
  expect(svg).not.toContain("undefined");
});
