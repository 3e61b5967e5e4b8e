import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { verify } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testBundle, testHistory } from "../../../test/bundles/bundles.ts";
import { bundlesInBatch } from "./batch-file.ts";
import { escapeXml, MAX_FILE_BYTES, readFileContents } from "./bundle-file.ts";
import type { Sheet } from "./certificate/sheet.ts";
import { toSvg } from "./certificate/svg.ts";

const bundle = testBundle();
const bytes = utf8(JSON.stringify(bundle, null, 2));

const NO_PAGES: Sheet = { width: 1, height: 1, document: { tag: "Document", kids: [] }, artifacts: [] };

/** A minimal PDF with one embedded file. */
function pdf(content: Uint8Array, { filter = "", length = String(content.length), eol = "\n" } = {}): Uint8Array {
  const head = `%PDF-1.7\n1 0 obj\n<< /Type /EmbeddedFile ${filter} /Length ${length} >>\nstream${eol}`;
  return Uint8Array.from([...utf8(head), ...content, ...utf8("\nendstream\nendobj\n%%EOF")]);
}

const EMPTY = { kind: "broken", why: "This certificate carries no bundle. Ask for the bundle's file." };

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
    expect(await readFileContents(file)).toEqual(EMPTY);
  });

  test.each([
    // `fixtures/make.py` made each; its attachment names the file as its source.
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
    const why = "An encrypted PDF: save it without a password, or ask for the bundle's file.";
    expect(await readFileContents(await fixture("qpdf-encrypted"))).toEqual({ kind: "broken", why });
  });

  test.each([
    // A length of `12 0 R` must not be read as 12. Text in a stream must not be read as the stream's end, or as an
    // object.
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
    expect(await readFileContents(utf8(file))).toEqual(EMPTY);
  });

  test("finds a bundle of any text in an SVG, byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom(..."<>&'\"]-; \u202eé𝄞\n\u0001") }), async (text) => {
        const original = utf8(JSON.stringify({ source: text }));
        const svg = utf8(toSvg(NO_PAGES, { bundle: original, making: text, title: text, sentence: text }));
        const contents = await readFileContents(svg);
        expect(contents).toEqual({ kind: "bundle", bytes: original, from: "svg" });
      }),
    );
  });

  test("says how many bytes stand before a PDF's header", async () => {
    const why = (bytes: number) =>
      `A PDF with ${bytes} bytes before its header, %PDF-: another program has changed it. Ask for the file as it was made.`;
    const after = (before: string) => readFileContents(Uint8Array.from([...utf8(before), ...pdf(bytes)]));
    expect(await after("\ufeff")).toEqual({ kind: "broken", why: why(3) });
    expect(await after("HTTP/1.1 200 OK\r\n\r\n")).toEqual({ kind: "broken", why: why(19) });
    await expect(after(" ".repeat(2000))).rejects.toThrow("is out of place");
    // In JSON such text does not make a PDF.
    expect(await readFileContents(utf8('{"source":"%PDF-"}'))).toMatchObject({ kind: "bundle" });
  });

  test("reads a bundle, a key list, a batch and an SVG behind a byte order mark", async () => {
    const marked = (text: string) => readFileContents(utf8(`\ufeff${text}`));
    const contents = await marked(JSON.stringify(bundle));
    expect(contents).toMatchObject({ kind: "bundle", from: "json" });
    expect(verify("bytes" in contents ? contents.bytes : "", { trust: testHistory() }).verified).toBe(true);
    expect(await marked(JSON.stringify(testHistory()))).toMatchObject({ kind: "keys" });
    const lines = ["a", "b"]
      .map((source) => JSON.stringify({ source, batch: { type: "batch-attestation" } }))
      .join("\n");
    const batch = await marked(lines);
    expect(batch).toMatchObject({ kind: "batch", from: "json" });
    const [first] = bundlesInBatch("bytes" in batch ? batch.bytes : utf8(""));
    expect(first).toEqual({ place: ":1", bytes: utf8(lines.slice(0, lines.indexOf("\n"))) });
    const svg = toSvg(NO_PAGES, { bundle: bytes, making: "", title: "", sentence: "" });
    expect(await marked(svg)).toEqual({ kind: "bundle", bytes, from: "svg" });
  });

  test.each(["utf16le", "utf16be"])("names text in UTF-16, as PowerShell's > writes it: %s", async (order) => {
    const le = Buffer.from(`\ufeff${JSON.stringify(bundle)}`, "utf16le");
    await expect(readFileContents(order === "utf16le" ? le : le.swap16())).rejects.toThrow("UTF-16");
  });

  test("finds a bundle in JSON, and distinguishes it from a key list and from other JSON", async () => {
    expect(await readFileContents(bytes)).toEqual({ kind: "bundle", bytes, from: "json" });
    expect(await readFileContents(utf8(JSON.stringify(testHistory())))).toMatchObject({ kind: "keys" });
    expect(await readFileContents(utf8("[1]"))).toEqual({ kind: "other" });
    // A sandbox's description and a service's status also name an attestor.
    expect(await readFileContents(utf8('{"attestor":{"kid":"k"},"serviceUrl":"http://localhost"}'))).toEqual({
      kind: "other",
    });
    // No member needs to be text, nor convertible into it.
    const untold = { toString: 1, valueOf: 1 };
    expect(await readFileContents(utf8(JSON.stringify({ bundle: untold, format: untold })))).toEqual({ kind: "other" });
    const ofUntold = { bundle: `sha256:${"0".repeat(64)}`, format: untold, source: {} };
    expect(await readFileContents(utf8(JSON.stringify(ofUntold)))).toMatchObject({ kind: "bundle" });
    await expect(readFileContents(utf8("no"))).rejects.toThrow(/line 1/);
    // The verifier reports what is wrong with ambiguous JSON.
    const twice = utf8(JSON.stringify(bundle).replace('"version":1', '"version":1,"version":1'));
    expect(await readFileContents(twice)).toMatchObject({ kind: "bundle" });
  });
});

test("escapeXml leaves no markup", () => {
  expect(escapeXml(`<a b="c" d='e'>&</a>`)).toBe("&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;&lt;/a&gt;");
});
