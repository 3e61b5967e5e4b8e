import resources from "../../fonts/embedded.compiled.json" with { type: "json" };

export type Font = keyof typeof resources.fonts;
export const FONTS = resources.fonts;
/** ICC profile of sRGB, base64. */
export const COLOUR_PROFILE = resources.profile;

/** Text of one font; a paragraph may have several. */
export type Run = { text: string; font: Font };

/** A mark on a page, in points from its upper left corner; `y` of a text is its baseline. */
export type Mark =
  | { kind: "text"; x: number; y: number; size: number; runs: Run[] }
  | { kind: "rule"; x: number; y: number; width: number }
  /** Dark modules of a QR code, each as wide as `module`. */
  | { kind: "code"; x: number; y: number; module: number; dark: boolean[][] }
  /** Text across the sheet, rising by `angle` degrees. */
  | { kind: "stamp"; x: number; y: number; size: number; angle: number; text: string };

/** What a mark is, as a screen reader says it: the names of ISO 32000-1, 14.8.4. Its marks are on one page. */
export type Leaf = {
  tag: "H1" | "H2" | "P" | "TH" | "TD" | "Lbl" | "LBody" | "Link" | "Figure";
  page: number;
  marks: Mark[];
  /** Says what a figure shows, or where a link leads. */
  alt?: string;
  /** Of a link. */
  url?: string;
  /** Of a TH: whether it heads a column, and not a row. */
  isOfColumn?: boolean;
};
export type Branch = { tag: "Document" | "Table" | "TR" | "TD" | "L" | "LI" | "LBody"; kids: Node[] };
export type Node = Leaf | Branch;

/** Pages of one size: the document in reading order, and what is only decoration, by page. */
export type Sheet = { width: number; height: number; document: Branch; artifacts: Mark[][] };

/** Beside text of this size, letters of one width look as large when they are smaller. */
export function fontSize(font: Font, size: number): number {
  return font === "mono" ? size * 0.87 : size;
}

/** Width in points of ASCII text beside text of this size. */
export function textWidth(text: string, font: Font, size: number): number {
  const { widths } = FONTS[font];
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum += widths[text.charCodeAt(index) - 0x20] ?? 0;
  return (sum * fontSize(font, size)) / 1000;
}

export function runsWidth(runs: readonly Run[], size: number): number {
  return runs.reduce((sum, { text, font }) => sum + textWidth(text, font, size), 0);
}

/** Breaks text at its spaces into lines no wider than `width`; a wider word is broken anywhere. */
export function wrap(runs: readonly Run[], size: number, width: number): Run[][] {
  const lines: Run[][] = [];
  let line: Run[] = [];
  for (const { font, text, isAfterSpace } of words(runs, size, width)) {
    const last = line.at(-1);
    const space: Run = { text: last && isAfterSpace ? " " : "", font: last?.font === font ? font : "sans" };
    const longer = merged([...line, space, { text, font }]);
    if (!last || runsWidth(longer, size) <= width) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = [{ text, font }];
  }
  return line.length === 0 ? lines : [...lines, line];
}

/** Joins neighbours of one font into one run. */
function merged(runs: readonly Run[]): Run[] {
  const whole: Run[] = [];
  for (const { text, font } of runs) {
    const last = whole.at(-1);
    if (last?.font === font) last.text += text;
    else if (text !== "") whole.push({ text, font });
  }
  return whole;
}

function* words(runs: readonly Run[], size: number, width: number) {
  let isAfterSpace = false;
  for (const { text, font } of runs) {
    for (const part of text.split(/( )/)) {
      if (part === " ") isAfterSpace = true;
      if (part === "" || part === " ") continue;
      for (const piece of pieces(part, font, size, width)) {
        yield { text: piece, font, isAfterSpace };
        isAfterSpace = false;
      }
    }
  }
}

/** Splits a word into parts no wider than `width`. */
function pieces(word: string, font: Font, size: number, width: number): string[] {
  const parts = [""];
  for (const character of word) {
    const last = parts.at(-1) as string;
    if (last !== "" && textWidth(last + character, font, size) > width) parts.push(character);
    else parts[parts.length - 1] = last + character;
  }
  return parts;
}
