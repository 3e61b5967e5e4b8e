import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { type KeyEntry, verify } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { utf8 } from "@attestd/proof/encoding";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testBaseBlock, testBundle, testHistory, testInclusionBundle } from "../../../test/bundles/bundles.ts";
import { escapeXml, MAX_FILE_BYTES, readFileContents } from "./bundle-file.ts";
import { makingOf } from "./certificate/certificate.ts";
import { certificateContents } from "./certificate/contents.ts";
import { layOut, textWidth, wrap } from "./certificate/layout.ts";
import { type Making, PAPERS, type Paper } from "./certificate/making.ts";
import { toSvg } from "./certificate/svg.ts";
import { isBundleOf, parsePointer, pointerUrl } from "./pointer.ts";

const bundle = testBundle();
const bytes = utf8(JSON.stringify(bundle, null, 2));

/** A minimal PDF with one embedded file. */
function pdf(content: Uint8Array, { filter = "", length = String(content.length), eol = "\n" } = {}): Uint8Array {
  const head = `%PDF-1.7\n1 0 obj\n<< /Type /EmbeddedFile ${filter} /Length ${length} >>\nstream${eol}`;
  return Uint8Array.from([...utf8(head), ...content, ...utf8("\nendstream\nendobj\n%%EOF")]);
}

const fixture = (name: string) => readFile(new URL(`pdf/fixtures/${name}.pdf`, import.meta.url));

describe("readFileContents", () => {
  test.each<[string, Uint8Array]>([
    ["in a PDF, uncompressed", pdf(bytes)],
    ["in a PDF, compressed", pdf(deflateSync(bytes), { filter: "/Filter /FlateDecode" })],
    ["in a PDF with CRLF line ends", pdf(bytes, { eol: "\r\n" })],
    ["in a PDF whose length is a reference to a missing object", pdf(bytes, { length: "9 0 R" })],
    ["after another attachment", Uint8Array.from([...pdf(utf8("{}")), ...pdf(bytes)])],
  ])("finds a bundle %s", async (_, file) => {
    const contents = await readFileContents(file);
    expect(contents).toMatchObject({ kind: "bundle", from: "pdf" });
    expect(verify("bytes" in contents ? contents.bytes : "", { trust: testHistory() }).verified).toBe(true);
  });

  test.each<[string, Uint8Array]>([
    ["that is empty", utf8("%PDF-1.7\n%%EOF")],
    ["that is truncated", pdf(bytes).subarray(0, 500)],
    [
      "whose attachment inflates beyond the limit",
      pdf(deflateSync(new Uint8Array(50_000_000)), { filter: "/Filter /FlateDecode" }),
    ],
    ["whose compression is invalid", pdf(bytes, { filter: "/Filter /FlateDecode" })],
  ])("finds no bundle in a PDF %s", async (_, file) => {
    expect(await readFileContents(file)).toEqual({ kind: "empty_certificate" });
  });

  test.each([
    // Each was made by `fixtures/make.py`; its attachment has the file's name as its source.
    ["qpdf-object-streams"],
    ["qpdf-qdf"],
    ["qpdf-linearized"],
    ["pypdf"],
    ["mupdf-incremental"],
  ])("finds the bundle in a PDF that another program wrote: %s", async (name) => {
    const contents = await readFileContents(await fixture(name));
    expect(contents).toMatchObject({ kind: "bundle", from: "pdf" });
    expect(JSON.parse(new TextDecoder().decode("bytes" in contents ? contents.bytes : undefined)).source).toBe(name);
  });

  test("finds no bundle in an encrypted PDF", async () => {
    expect(await readFileContents(await fixture("qpdf-encrypted"))).toEqual({ kind: "empty_certificate" });
  });

  test.each([
    // A length of `12 0 R` must not be read as 12. Text in a stream must not be read as the stream's end, or as an object.
    ["an object after it", "<< /Type /EmbeddedFile /Length 12 0 R >>", "12 0 obj LENGTH endobj"],
    ["a later object of the same number", "<< /Type/EmbeddedFile/Length 12 0 R>>", "12 0 obj 3 endobj 12 0 obj LENGTH"],
    ["its own dictionary", "<</Type/EmbeddedFile % a comment\n/Length LENGTH>>", ""],
  ])("reads the whole stream when its length is in %s", async (_, dictionary, behind) => {
    const content = '{"source":"endstream endobj 1 0 obj << /Type /EmbeddedFile >> stream {} endstream"}';
    const file = `%PDF-1.4\n1 0 obj\n${dictionary}\nstream\r\n${content}\nendstream endobj\n${behind}\n%%EOF`;
    const contents = await readFileContents(utf8(file.replaceAll("LENGTH", String(content.length))));
    expect(contents).toMatchObject({ kind: "bundle", bytes: utf8(content) });
  });

  test.each<readonly [head: string, again: string, tail: string]>([
    ...["obj", "1 0 obj<</A", "1 0 obj(", "1 0 obj[", "1 0 obj<", "trailer<<", "endstream", "9", "1 0 "].map(
      (again) => ["%PDF-1.7\n", again, ">>endstream"] as const,
    ),
    ["%PDF-1.7\n", "1 0 obj<</Type/EmbeddedFile/Length 9999999>>stream\n", "endstream"],
    ["%PDF-1.7\n", "1 0 obj<</Type/ObjStm/N 9999/First 9>>stream\n1 0 2 0\nendstream ", ""],
    ...["<metadata", "<metadata ", `<metadata id="attestd-bundle">`, `<metadata id="attestd-bundle">{</metadata>`].map(
      (again) => ["<svg>", again, "></metadata>"] as const,
    ),
    [`<svg><metadata id="attestd-bundle">`, "&lt;", "</metadata>"],
    ["<svg>", `<metadata id="attestd-bundle" `, "</metadata>"],
  ])("finds no bundle in %s and 3 MB of %s, in time linear in the size", async (head, again, tail) => {
    const file = `${head}${again.repeat((MAX_FILE_BYTES - 100) / again.length)}${tail}`;
    expect(await readFileContents(utf8(file))).toEqual({ kind: "empty_certificate" });
  });

  test("finds a bundle of any text in an SVG, byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom(..."<>&'\"]-; \u202eé𝄞\n\u0001") }), async (text) => {
        const original = utf8(JSON.stringify({ source: text }));
        const svg = utf8(toSvg({ width: 1, height: 1, marks: [] }, { bundle: original, making: text, title: text }));
        const contents = await readFileContents(svg);
        expect(contents).toEqual({ kind: "bundle", bytes: original, from: "svg" });
      }),
    );
  });

  test("finds a bundle in JSON, and distinguishes it from a key list and from other JSON", async () => {
    expect(await readFileContents(bytes)).toEqual({ kind: "bundle", bytes, from: "json" });
    expect(await readFileContents(utf8(JSON.stringify(testHistory())))).toMatchObject({ kind: "keys" });
    expect(await readFileContents(utf8("[1]"))).toEqual({ kind: "other" });
    await expect(readFileContents(utf8("no"))).rejects.toThrow(/line 1/);
    // The verifier reports what is wrong with ambiguous JSON.
    const twice = utf8(JSON.stringify(bundle).replace('"version":1', '"version":1,"version":1'));
    expect(await readFileContents(twice)).toMatchObject({ kind: "bundle" });
  });
});

test("escapeXml leaves no markup", () => {
  expect(escapeXml(`<a b="c" d='e'>&</a>`)).toBe("&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;&lt;/a&gt;");
});

describe("a certificate", () => {
  const sandbox = "algorand:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  // The longest: a block and a transaction, both warnings, a stamp, a long name.
  const longest = testInclusionBundle({ block: testBaseBlock(3), ledger: sandbox, level: "included" });
  const history = testHistory(undefined, sandbox);
  const making: Making = {
    layout: 1,
    paper: "a4",
    checkedOn: "2026-11-22",
    keys: { basis: "file", date: "2026-01-02" },
    status: "retired",
    site: "https://attestd.example",
    ledger: { askedOf: "attestd.example", recordedAt: "2026-03-04T05:06:07.000Z" },
  };
  const contents = certificateContents(longest, history.keys[0] as KeyEntry, making);

  test.each(Object.keys(PAPERS) as Paper[])("stays within the margins of %s", (paper) => {
    const { width, height, marks } = layOut(contents, paper);
    const margin = (18 / 25.4) * 72 - 0.01;
    for (const mark of marks) {
      if (mark.kind === "stamp") continue;
      const right =
        mark.kind === "text"
          ? textWidth(mark.text, mark.font, mark.size)
          : mark.kind === "rule"
            ? mark.width
            : mark.module * mark.dark.length;
      const below = mark.kind === "code" ? mark.module * mark.dark.length : 2;
      expect(mark.x).toBeGreaterThan(margin);
      expect(mark.x + right).toBeLessThan(width - margin);
      expect(mark.y + below).toBeLessThan(height - margin);
    }
    const code = marks.find((mark) => mark.kind === "code");
    expect(((code?.module ?? 0) * ((code?.dark.length ?? 0) + 8) * 25.4) / 72).toBeCloseTo(34);
  });

  test("is made only of a verified bundle", () => {
    const keys = { history, basis: { basis: "file" as const, name: "keys.json", since: 0 } };
    const judged = { report: verify(longest, { trust: history }), bundle: longest, subject: subjectOf(longest), keys };
    expect(makingOf(judged, new Date(0), "a4").checkedOn).toBe("1970-01-01");
    const report = verify(longest, { trust: testHistory() });
    expect(() => makingOf({ ...judged, report }, new Date(0), "a4")).toThrow(/Only a verified bundle/);
  });

  test("has a QR code that identifies its bundle and no other", () => {
    const url = pointerUrl("https://attestd.example/", bundle);
    expect(url.length).toBeLessThanOrEqual(128);
    const pointer = parsePointer(new URL(url).hash);
    expect(pointer && isBundleOf(pointer, bundle)).toBe(true);
    expect(pointer && isBundleOf(pointer, longest)).toBe(false);
    for (const other of ["", "#", "#buy", "#c1.x.y", `${new URL(url).hash}x`])
      expect(parsePointer(other)).toBeUndefined();
  });

  test("breaks lines at spaces, and only a single long word may be too wide", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[!-~]{1,12}$/), { minLength: 1, maxLength: 40 }), (words) => {
        const lines = wrap(words.join(" "), "sans", 10, 120);
        expect(lines.join(" ")).toBe(words.join(" "));
        for (const line of lines) if (line.includes(" ")) expect(textWidth(line, "sans", 10)).toBeLessThanOrEqual(120);
      }),
    );
  });
});
