import { concatBytes, utf8 } from "@attestd/proof/encoding";
import type { Mark, Sheet } from "./layout.ts";
import { type Carried, codeRectangles, round } from "./svg.ts";

const FONTS = { sans: "F1", mono: "F2" } as const;
const STAMP_GREY = 0.85;
const RULE_HEIGHT = 0.6;

/**
 * A sheet as PDF 1.7 with its bundle attached as `bundle.json`. The same sheet and the same date give the same bytes.
 * @param madeOn `YYYY-MM-DD` of UTC
 */
export function toPdf(sheet: Sheet, { bundle, making, title }: Carried, madeOn: string): Uint8Array {
  const date = text(`D:${madeOn.replaceAll("-", "")}000000Z`);
  const attached = (name: string, description: string, stream: number) =>
    `<< /Type /Filespec /F ${text(name)} /UF ${text(name)} /Desc ${text(description)} /AFRelationship /Source /EF << /F ${stream} 0 R /UF ${stream} 0 R >> >>`;
  const embedded = (size: number) =>
    `/Type /EmbeddedFile /Subtype /application#2Fjson /Params << /Size ${size} /CreationDate ${date} /ModDate ${date} >>`;
  const data = utf8(making);
  const content = utf8(sheet.marks.map((mark) => operators(mark, sheet.height)).join(""));
  return file([
    "<< /Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> /Names << /EmbeddedFiles << /Names [(bundle.json) 8 0 R (certificate.json) 10 0 R] >> >> /AF [8 0 R 10 0 R] >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${sheet.width} ${sheet.height}] /Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> /Contents 6 0 R >>`,
    // Every reader has these fonts, so none is embedded.
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
    stream("", content),
    `<< /Title ${text(title)} /Creator (attestd) /Producer (attestd) /CreationDate ${date} /ModDate ${date} >>`,
    attached("bundle.json", "The bundle: what this certificate is a copy of", 9),
    stream(embedded(bundle.length), bundle),
    attached("certificate.json", "What this certificate says beyond its bundle, by its maker's word", 11),
    stream(embedded(data.length), data),
  ]);
}

function stream(entries: string, bytes: Uint8Array): Uint8Array {
  const head = utf8(`<< ${entries} /Length ${bytes.length} >>\nstream\n`);
  return concatBytes(head, bytes, utf8("\nendstream"));
}

/** Writes objects, numbered from 1. The first is the catalog, the seventh the document's information. */
function file(objects: readonly (string | Uint8Array)[]): Uint8Array {
  // Four bytes that mark the file as binary (ISO 32000-1, 7.5.2).
  const parts = [utf8("%PDF-1.7\n%"), Uint8Array.of(0xe2, 0xe3, 0xcf, 0xd3, 0x0a)];
  let size = concatBytes(...parts).length;
  let table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const [index, object] of objects.entries()) {
    table += `${String(size).padStart(10, "0")} 00000 n \n`;
    const contents = typeof object === "string" ? utf8(object) : object;
    const part = concatBytes(utf8(`${index + 1} 0 obj\n`), contents, utf8("\nendobj\n"));
    parts.push(part);
    size += part.length;
  }
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 7 0 R >>\nstartxref\n${size}\n%%EOF\n`;
  return concatBytes(...parts, utf8(table + trailer));
}

/** PDF measures from the lower left corner, a sheet from the upper left. */
function operators(mark: Mark, height: number): string {
  const at = (x: number, y: number) => `${round(x)} ${round(height - y)}`;
  switch (mark.kind) {
    case "text":
      return `BT /${FONTS[mark.font]} ${mark.size} Tf ${at(mark.x, mark.y)} Td ${text(mark.text)} Tj ET\n`;
    case "rule":
      return `${at(mark.x, mark.y + RULE_HEIGHT)} ${round(mark.width)} ${RULE_HEIGHT} re f\n`;
    case "code": {
      const boxes = codeRectangles(mark).map(
        ([x, y, wide, high]) => `${at(mark.x + x, mark.y + y + high)} ${round(wide)} ${round(high)} re`,
      );
      return `${boxes.join("\n")} f\n`;
    }
    case "stamp": {
      const turn = (mark.angle * Math.PI) / 180;
      const [cos, sin] = [round(Math.cos(turn)), round(Math.sin(turn))];
      return `${STAMP_GREY} g BT /${FONTS.sans} ${mark.size} Tf ${cos} ${sin} ${-sin} ${cos} ${at(mark.x, mark.y)} Tm ${text(mark.text)} Tj ET 0 g\n`;
    }
  }
}

/** ASCII text as a literal string. */
function text(ascii: string): string {
  return `(${ascii.replace(/[\\()]/g, "\\$&")})`;
}
