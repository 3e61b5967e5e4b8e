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

/** The role of marks, as a screen reader names it: the tags of ISO 32000-1, 14.8.4. Its marks are on one page. */
export type Leaf = {
  tag: "H1" | "H2" | "P" | "TH" | "TD" | "Lbl" | "LBody" | "Link" | "Figure";
  page: number;
  marks: Mark[];
  /** Describes a figure, or a link's target. */
  alt?: string;
  /** The target of a link. */
  url?: string;
  /** For a TH: whether it heads a column rather than a row. */
  isOfColumn?: boolean;
};
export type Branch = { tag: "Document" | "Table" | "TR" | "TD" | "L" | "LI" | "LBody"; kids: Node[] };
export type Node = Leaf | Branch;

/** Pages of one size: the document in reading order, and the decoration by page. */
export type Sheet = { width: number; height: number; document: Branch; artifacts: Mark[][] };

/** Returns the font size at which a font looks as large as text of `size`: monospaced letters must be smaller. */
export function fontSize(font: Font, size: number): number {
  return font === "mono" ? size * 0.87 : size;
}

/** Returns the width in points of ASCII text that looks as large as text of `size`. */
export function textWidth(text: string, font: Font, size: number): number {
  const { widths } = FONTS[font];
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum += widths[text.charCodeAt(index) - 0x20] ?? 0;
  return (sum * fontSize(font, size)) / 1000;
}

export function runsWidth(runs: readonly Run[], size: number): number {
  return runs.reduce((sum, { text, font }) => sum + textWidth(text, font, size), 0);
}

/** Breaks text at spaces into lines no wider than `width`. A wider word is broken anywhere. */
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

/** Joins adjacent runs with the same font. */
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
