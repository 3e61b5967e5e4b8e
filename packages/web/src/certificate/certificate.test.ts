import { readFile } from "node:fs/promises";
import { fromUtf8, utf8 } from "@attestd/proof/encoding";
import { PDFDocument } from "@cantoo/pdf-lib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testBatchItem } from "../../../../test/bundles/batches.ts";
import {
  testAttestor,
  testBaseBlock,
  testBundle,
  testHistory,
  testInclusionBundle,
} from "../../../../test/bundles/bundles.ts";
import { judge } from "../judge.ts";
import { type CertificateFormat, makeCertificate } from "./certificate.ts";
import { LAYOUT, type Making, readMaking, writeMaking } from "./making.ts";

const fixture = (name: string) => readFile(new URL(`../../test/certificates/${name}`, import.meta.url));
const history = testHistory();
const making: Making = {
  layout: LAYOUT,
  paper: "letter",
  checkedAt: "2026-11-22T10:11:12Z",
  version: "0.1.0",
  keys: { basis: "origin", date: "2026-11-22" },
  status: "current",
  site: "https://attestd.example",
};
const bundle = testBundle({ round: 46_581_204 });
const bytes = utf8(JSON.stringify(bundle));
const FORMATS: CertificateFormat[] = ["svg", "pdf"];

const make = (format: CertificateFormat, over: Partial<Making> = {}) =>
  makeCertificate(format, bytes, history, { ...making, ...over }).bytes;

async function judged(file: Uint8Array, trust = history) {
  const judgement = await judge(file, { history: trust, historyAge: 0 });
  return judgement.kind === "judged" ? judgement : undefined;
}

const words = async (file: Uint8Array, trust = history) => (await judged(file, trust))?.certificate?.words;

/** Replaces text with other text of the same length. */
function edit(file: Uint8Array, from: string, to: string): Uint8Array {
  const text = Buffer.from(file).toString("latin1");
  expect(text).toContain(from);
  expect(to.length).toBe(from.length);
  return Uint8Array.from(Buffer.from(text.replace(from, to), "latin1"));
}

describe.each(FORMATS)("a certificate as %s", (format) => {
  test("of this layout still matches its bundle", async () => {
    expect(await words(await fixture(`layout-${LAYOUT}.${format}`))).toBe("pass");
  });

  test("matches its bundle, of every kind", async () => {
    const inclusion = testInclusionBundle({ block: testBaseBlock(3), level: "included" });
    for (const one of [bundle, inclusion, testBatchItem({ index: 1 })]) {
      const ownBytes = utf8(JSON.stringify(one, null, 1));
      const made = makeCertificate(format, ownBytes, history, making).bytes;
      expect(await words(made)).toBe("pass");
      expect(fromUtf8((await judged(made))?.bytes ?? new Uint8Array())).toBe(fromUtf8(ownBytes));
    }
  });

  test.each([
    ["the amount, raised", "1.00 ALGO", "9.99 ALGO"],
    ["the day", "Verified on 2026-11-22", "Verified on 2020-11-22"],
    ["the time of the block", "28 May 2026 at 20:26:40", "28 May 2025 at 20:26:40"],
    ["the version", "attestd 0.1.0", "attestd 9.1.0"],
    ["the attestor", "attestd.example, with", "bank-of.example, with"],
    ["the round", "round 46581204", "round 46581205"],
    ["the word offline", "offline", "by bank"],
    ["a date that is only data", '"checkedAt"', '"checkedNo"'],
  ])("does not match after an edit: %s", async (_, from, to) => {
    const quoted = format === "svg" ? [from, to].map((one) => one.replaceAll('"', "&quot;")) : [from, to];
    const edited = edit(make(format), quoted[0] as string, quoted[1] as string);
    const judgement = await judged(edited);
    expect(judgement?.report.verified).toBe(true);
    expect(judgement?.certificate?.words).toBe("fail");
  });

  test("is judged with the edited and the original text", async () => {
    const end = format === "svg" ? "<" : ")";
    const edited = edit(make(format), `1.00 ALGO${end}`, `9.99 ALGO${end}`);
    expect((await judged(edited))?.certificate).toMatchObject({
      stated: expect.stringContaining("9.99 ALGO"),
      computed: expect.stringContaining("1.00 ALGO"),
    });
  });

  test("does not match when any byte is changed", async () => {
    const made = make(format);
    await fc.assert(
      fc.asyncProperty(fc.nat(made.length - 1), fc.integer({ min: 1, max: 255 }), async (place, change) => {
        const changed = Uint8Array.from(made);
        changed[place] = (changed[place] ?? 0) ^ change;
        const judgement = await judge(changed, { history, historyAge: 0 });
        if (judgement.kind !== "judged") return;
        expect(judgement.report.verified && judgement.certificate?.words === "pass").toBe(false);
      }),
      { numRuns: 25 },
    );
  });

  test("does not match when bytes were appended, or its making is missing", async () => {
    expect(await words(Uint8Array.of(...make(format), 10))).toBe("fail");
    const name = format === "svg" ? "attestd-certificate" : '"layout"';
    expect(await words(edit(make(format), name, name.toUpperCase()))).toBe("fail");
  });

  test("is not compared when another version made it", async () => {
    const quote = format === "svg" ? "&quot;" : '"';
    const other = edit(make(format), `${quote}layout${quote}:2`, `${quote}layout${quote}:3`);
    expect((await judged(other))?.certificate).toEqual({
      words: "not_checked",
      why: "another version of attestd made it",
    });
  });

  test("is not compared when its QR code leads to a site that is not in the key list", async () => {
    const phishing = make(format, { site: "https://attestd.evil.example" });
    expect((await judged(phishing))?.certificate).toEqual({
      words: "not_checked",
      why: "its QR code leads to attestd.evil.example, which the key list does not name",
    });
  });

  test("is not compared when the signer is unknown", async () => {
    const strangers = testHistory([{ attestor: testAttestor("stranger"), fromRound: 1 }]);
    expect(await words(make(format), strangers)).toBe("not_checked");
    expect((await judge(make(format), { historyAge: 0 })) as object).toMatchObject({
      certificate: { words: "not_checked" },
      report: { verified: false },
    });
  });
});

test.each<[string, unknown]>([
  ["words instead of a time of checking", { ...making, checkedAt: "today, by the bank" }],
  ["words instead of a version", { ...making, version: "0.1.0-paid.by.the.bank" }],
  ["words instead of a host", { ...making, ledger: { askedOf: "the bank, which paid 9,999,999" } }],
  ["words instead of a time", { ...making, ledger: { askedOf: "a.example", recordedAt: "2026-03-04, paid" } }],
  ["words instead of the list's date", { ...making, keys: { basis: "file", date: "2026-01-01, by the bank" } }],
  ["an unknown basis", { ...making, keys: { basis: "notary" } }],
  ["an unknown status", { ...making, status: "certified" }],
  ["an unknown paper", { ...making, paper: "__proto__" }],
  ["a site that is too long", { ...making, site: `https://${"a".repeat(300)}` }],
  ["no keys", { ...making, keys: undefined }],
  ["null", null],
  ["a list", [making]],
])("readMaking rejects %s", (_, value) => {
  expect(readMaking(utf8(JSON.stringify(value)))).toBeUndefined();
});

test("writeMaking drops unknown members", () => {
  for (const name of ["by", "site"]) {
    const read = readMaking(utf8(JSON.stringify({ ...making, ledger: { askedOf: "a.example", [name]: "the bank" } })));
    expect(writeMaking(read as Making)).toContain("a.example");
    expect(writeMaking(read as Making)).not.toContain("the bank");
  }
});

test("a certificate as PDF keeps its bundle when saved again, and then does not match it", async () => {
  const document = await PDFDocument.load(make("pdf"));
  const judgement = await judged(await document.save());
  expect(judgement?.report.verified).toBe(true);
  expect(judgement?.certificate?.words).toBe("fail");
});
