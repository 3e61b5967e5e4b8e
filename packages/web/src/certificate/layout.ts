import { encode } from "uqr";
import type { CertificateContents, CertificateRow } from "./contents.ts";
import { PAPERS, type Paper } from "./making.ts";

/** Advance widths of Helvetica (Adobe's core 14 metrics), of U+0020 to U+007E, in thousandths of the size. */
const HELVETICA = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
  556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
  260, 334, 584,
];
/** Every character of Courier has this width. */
const COURIER = 600;

export type Font = "sans" | "mono";

/** A mark on the sheet, in points from its upper left corner; `y` of a text is its baseline. */
export type Mark =
  | { kind: "text"; x: number; y: number; size: number; font: Font; text: string }
  | { kind: "rule"; x: number; y: number; width: number }
  /** Dark modules of a QR code, each as wide as `module`. */
  | { kind: "code"; x: number; y: number; module: number; dark: boolean[][] }
  /** Text across the sheet, rising by `angle` degrees. */
  | { kind: "stamp"; x: number; y: number; size: number; angle: number; text: string };

export type Sheet = { width: number; height: number; marks: Mark[] };

const MM = 72 / 25.4;
const MARGIN = 18 * MM;
const CODE_SIDE = 34 * MM;
/** ISO/IEC 18004: four modules of quiet zone. */
const QUIET = 4;
/** Version 8 fits the usual pointer at level M; smaller codes would look different from page to page. */
const MIN_VERSION = 8;
const LABEL_WIDTH = 82;
const GAP = 16;
const LINE = 13;

/** Lays out a certificate on one sheet. Pure: the same contents give the same sheet, for SVG and PDF. */
export function layOut(contents: CertificateContents, paper: Paper): Sheet {
  const { width, height } = PAPERS[paper];
  const right = width - MARGIN;
  const marks: Mark[] = [];
  const put: Put = (text, x, y, size, font = "sans") => marks.push({ kind: "text", x, y, size, font, text });

  if (contents.stamp !== undefined) marks.push(stamp(contents.stamp, width, height));
  const kind = "Certificate of attestation";
  let y = MARGIN + 14;
  put("attestd", MARGIN, y, 18);
  put(kind, right - textWidth(kind, "sans", 11), y, 11);
  y += 16;
  marks.push({ kind: "rule", x: MARGIN, y, width: right - MARGIN });

  const codeTop = y + 16;
  const textRight = right - CODE_SIDE - GAP;
  placeCode(contents.url, right - CODE_SIDE, codeTop, marks);
  const caption = "Scan to verify";
  put(caption, right - (CODE_SIDE + textWidth(caption, "sans", 8)) / 2, codeTop + CODE_SIDE + 10, 8);

  y += 34;
  for (const line of wrap(contents.title, "sans", 16, textRight - MARGIN)) {
    put(line, MARGIN, y, 16);
    y += 20;
  }
  for (const { heading, rows } of contents.sections) {
    y += 12;
    put(heading, MARGIN, y, 11.5);
    y += LINE + 4;
    for (const row of rows) y = placeRow(row, y, put);
  }

  y += 10;
  marks.push({ kind: "rule", x: MARGIN, y, width: right - MARGIN });
  y += 18;
  for (const paragraph of contents.closing) {
    for (const line of wrap(paragraph, "sans", 9, right - MARGIN)) {
      put(line, MARGIN, y, 9);
      y += LINE;
    }
    y += 3;
  }
  const urlLength = Math.floor((right - MARGIN) / textWidth("0", "mono", 7));
  for (const line of contents.url.match(new RegExp(`.{1,${urlLength}}`, "g")) ?? []) {
    put(line, MARGIN, y + 4, 7, "mono");
    y += 9;
  }
  return { width, height, marks };
}

type Put = (text: string, x: number, y: number, size: number, font?: Font) => void;

function placeRow({ label, lines, isId }: CertificateRow, top: number, put: Put): number {
  put(label, MARGIN, top, 9);
  let y = top;
  for (const line of isId ? lines : lines.flatMap((text) => wrap(text, "sans", 10, 290))) {
    put(line, MARGIN + LABEL_WIDTH, y, isId ? 9 : 10, isId ? "mono" : "sans");
    y += isId ? LINE - 1 : LINE;
  }
  return y + 3;
}

function placeCode(url: string, x: number, y: number, marks: Mark[]): void {
  const { data, size } = encode(url, { ecc: "M", minVersion: MIN_VERSION, border: 0 });
  const module = CODE_SIDE / (size + 2 * QUIET);
  marks.push({ kind: "code", x: x + QUIET * module, y: y + QUIET * module, module, dark: data });
}

function stamp(text: string, width: number, height: number): Mark {
  const angle = 45;
  const size = 44;
  const half = textWidth(text, "sans", size) / 2 / Math.SQRT2;
  return { kind: "stamp", x: width / 2 - half, y: height / 2 + half, size, angle, text };
}

/** Width of ASCII text in points. */
export function textWidth(text: string, font: Font, size: number): number {
  const width = (character: string) => (font === "mono" ? COURIER : (HELVETICA[character.charCodeAt(0) - 0x20] ?? 556));
  return ([...text].reduce((sum, character) => sum + width(character), 0) * size) / 1000;
}

/** Breaks text at its spaces into lines no wider than `width`; a wider word gets its own line. */
export function wrap(text: string, font: Font, size: number, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && textWidth(longer, font, size) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === "" ? lines : [...lines, line];
}
