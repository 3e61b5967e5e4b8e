import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { inflateSync } from "node:zlib";
import { fromBase64, fromUtf8, utf8 } from "@attestd/proof/encoding";
import {
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  type PDFObject,
  PDFRawStream,
  StandardFontEmbedder,
} from "@cantoo/pdf-lib";
import { describe, expect, test } from "vitest";
import { embedded, subsetOf } from "../../fonts/embed.ts";
import { KINDS, MAKING } from "../../test/certificates/make.ts";
import { makeCertificate } from "./certificate.ts";
import { FONTS, type Font } from "./sheet.ts";

const made = (kind: string) => {
  const [bundle, history, stated] = KINDS[kind] as (typeof KINDS)[string];
  const bytes = utf8(JSON.stringify(bundle));
  return { bytes, pdf: makeCertificate("pdf", bytes, history, { ...MAKING, ...stated }).bytes };
};

/** A PDF as pdf-lib reads it. */
async function read(pdf: Uint8Array) {
  const document = await PDFDocument.load(pdf, { throwOnInvalidObject: true, updateMetadata: false });
  const { context, catalog } = document;
  const at = (from: PDFObject | undefined, ...path: (string | number)[]): PDFObject | undefined =>
    path.reduce<PDFObject | undefined>((value, key) => {
      const found = context.lookup(value);
      const dictionary = found instanceof PDFRawStream ? found.dict : found;
      if (typeof key === "number") return dictionary instanceof PDFArray ? dictionary.get(key) : undefined;
      return dictionary instanceof PDFDict ? dictionary.get(PDFName.of(key)) : undefined;
    }, from);
  const text = (...path: [PDFObject | undefined, ...(string | number)[]]) => String(context.lookup(at(...path)));
  const stream = (...path: [PDFObject | undefined, ...(string | number)[]]) => {
    const found = context.lookup(at(...path));
    if (!(found instanceof PDFRawStream)) throw new Error("no stream");
    return found.contents;
  };
  const list = (value: PDFObject | undefined) => {
    const found = context.lookup(value);
    return found instanceof PDFArray ? found.asArray() : [];
  };
  return { document, catalog, at, text, stream, list };
}

describe.each(["base-transfer", "algorand-block", "sandbox", "batch"])("a certificate as PDF: %s", (kind) => {
  test("says that it is PDF/A-3a, in English, with a title and its colours", async () => {
    const { document, catalog, text, stream } = await read(made(kind).pdf);
    const xmp = fromUtf8(stream(catalog, "Metadata"));
    expect(xmp).toMatch(/<pdfaid:part>3<\/pdfaid:part>\s*<pdfaid:conformance>A<\/pdfaid:conformance>/);
    expect(xmp).toContain(`<rdf:li xml:lang="x-default">${document.getTitle()}</rdf:li>`);
    expect(xmp).toContain("<xmp:CreateDate>2026-11-22T10:11:12Z</xmp:CreateDate>");
    expect(document.getCreationDate()).toEqual(new Date("2026-11-22T10:11:12Z"));
    expect(text(catalog, "Lang")).toBe("(en)");
    expect(text(catalog, "MarkInfo", "Marked")).toBe("true");
    expect(text(catalog, "OutputIntents", 0, "S")).toBe("/GTS_PDFA1");
    // ICC.1:2022, 7.2: the signature of a profile, and its colour space.
    const profile = new TextDecoder("latin1").decode(stream(catalog, "OutputIntents", 0, "DestOutputProfile"));
    expect([profile.slice(36, 40), profile.slice(16, 20)]).toEqual(["acsp", "RGB "]);
  });

  test("embeds every font", async () => {
    const { document, at, text, stream } = await read(made(kind).pdf);
    for (const page of document.getPages())
      for (const name of ["F1", "F2", "F3"]) {
        const font = at(page.node, "Resources", "Font", name);
        expect(text(font, "BaseFont")).toMatch(/^\/[A-Z]{6}\+(Arimo|Cousine)-/);
        expect(text(font, "FontDescriptor", "FontName")).toBe(text(font, "BaseFont"));
        const program = inflateSync(stream(font, "FontDescriptor", "FontFile2"));
        expect(String(program.length)).toBe(text(font, "FontDescriptor", "FontFile2", "Length1"));
        expect(program.readUInt32BE(0)).toBe(0x0001_0000);
      }
  });

  test("attaches what it is of as its source", async () => {
    const { bytes, pdf } = made(kind);
    const { catalog, text, stream, list, at } = await read(pdf);
    expect(list(at(catalog, "AF"))).toHaveLength(2);
    expect(text(catalog, "AF", 0, "UF")).toBe(kind === "batch" ? "(batch.json)" : "(bundle.json)");
    expect([0, 1].map((index) => text(catalog, "AF", index, "AFRelationship"))).toEqual(["/Source", "/Data"]);
    expect(fromUtf8(stream(catalog, "AF", 0, "EF", "F"))).toBe(fromUtf8(bytes));
  });

  test("has every mark in its tree, or as an artifact", async () => {
    const { document, catalog, at, text, stream, list } = await read(made(kind).pdf);
    const seen: string[] = [];
    const walk = (element: PDFObject | undefined): void => {
      seen.push(text(element, "S").slice(1));
      for (const kid of list(at(element, "K"))) if (at(kid, "S")) walk(kid);
    };
    walk(at(catalog, "StructTreeRoot", "K"));
    expect(seen.slice(0, 4)).toEqual(["Document", "H1", "P", "P"]);
    expect(new Set(seen)).toEqual(
      new Set(["Document", "H1", "H2", "P", "Table", "TR", "TH", "TD", "L", "LI", "Lbl", "LBody", "Link", "Figure"]),
    );
    for (const [index, page] of document.getPages().entries()) {
      expect(text(page.node, "StructParents")).toBe(String(index));
      const parents = list(at(catalog, "StructTreeRoot", "ParentTree", "Nums", 2 * index + 1));
      const content = fromUtf8(stream(page.node, "Contents"));
      const sequences = content.split(/^EMC$/m);
      expect(sequences.pop()?.trim()).toBe("");
      for (const [place, sequence] of sequences.entries()) {
        const [, tag, number] = /^\/(\w+) (?:BMC|<< \/MCID (\d+) >> BDC)$/m.exec(sequence) ?? [];
        if (place === 0) expect(tag).toBe("Artifact");
        else expect([tag, number]).toEqual([text(parents[place - 1], "S").slice(1), String(place - 1)]);
      }
      expect(parents).toHaveLength(sequences.length - 1);
    }
  });
});

test("of a batch has a table: its columns named, a row for each item, and the names again on every page", async () => {
  const { bytes, pdf } = made("batch");
  const { document, catalog, at, text, stream, list } = await read(pdf);
  const tables: PDFObject[] = [];
  const walk = (element: PDFObject | undefined): void => {
    if (element && text(element, "S") === "/Table") tables.push(element);
    else for (const kid of list(at(element, "K"))) if (at(kid, "S")) walk(kid);
  };
  walk(at(catalog, "StructTreeRoot", "K"));
  const [head, ...rows] = list(at(tables.at(-1), "K"));
  expect(list(at(head, "K")).map((cell) => text(cell, "A", "Scope"))).toEqual(Array(4).fill("/Column"));
  expect(rows).toHaveLength(JSON.parse(fromUtf8(bytes)).items.length);
  for (const row of rows) expect(list(at(row, "K")).map((cell) => text(cell, "S"))).toEqual(Array(4).fill("/TD"));
  const pages = document.getPages().map((page) => fromUtf8(stream(page.node, "Contents")));
  const onPage = pages.map((content) => content.includes("(Block and time)"));
  expect(onPage).toEqual([false, ...Array(pages.length - 1).fill(true)]);
  const decoration = pages.slice(2).map((content) => content.split(/^EMC$/m)[0]);
  for (const marks of decoration) expect(marks).toContain("(Block and time)");
});

test("the certificate that is kept is the one that veraPDF validated", async () => {
  const kept = await readFile(new URL("../../test/certificates/layout-2.pdf", import.meta.url));
  const verdicts = await readFile(new URL("../../../../docs/certificate.md", import.meta.url), "utf8");
  expect(verdicts).toContain(createHash("sha256").update(kept).digest("hex"));
});

const SENTENCE =
  /On 21 November 2026 at 14:03:07 UTC, account 0x[0-9a-fA-F]{40} sent 25\.00 USDC to account 0x(5[eE]){20} in transaction 0x[0-9a-f]{64} on Base\. It succeeded\./;

describe("read by pdftotext", () => {
  const words = (text: string) => text.replace(/\s+/g, " ");

  test("has the sentence, as Poppler 22.12 reads the one that is kept", async () => {
    expect(words(await readFile(new URL("../../test/certificates/layout-2.txt", import.meta.url), "utf8"))).toMatch(
      SENTENCE,
    );
  });

  test("has the sentence, as the Poppler of this machine reads it", async (context) => {
    const pdf = made("base-transfer").pdf;
    const reading = promisify(execFile)("pdftotext", ["-raw", "-", "-"]);
    reading.child.stdin?.on("error", () => undefined).end(pdf);
    try {
      expect(words((await reading).stdout)).toMatch(SENTENCE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      console.log("pdf.test.ts: pdftotext (poppler-utils) is not installed, no certificate is read by it");
      context.skip();
    }
  });
});

describe("the fonts", () => {
  test.each(["sans", "bold", "mono"] as const)("are what the pinned packages give: %s", async (font: Font) => {
    const { deflated, ...measures } = FONTS[font];
    const file = await subsetOf(font);
    const { deflated: _, ...computed } = embedded(measures.name, file);
    expect(measures).toEqual(computed);
    expect(inflateSync(fromBase64(deflated)).equals(file)).toBe(true);
  });

  test.each([
    ["sans", "Helvetica"],
    ["bold", "Helvetica-Bold"],
    ["mono", "Courier"],
  ] as const)("are as wide as Adobe's: %s as %s", (font, name) => {
    const adobe = StandardFontEmbedder.for(name as Parameters<typeof StandardFontEmbedder.for>[0]);
    for (const [index, width] of FONTS[font].widths.entries())
      expect(width).toBeCloseTo(adobe.widthOfTextAtSize(String.fromCharCode(0x20 + index), 1000), -0.5);
  });
});
