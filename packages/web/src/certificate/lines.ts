import { ascii } from "../printable.ts";
import type { Run } from "./sheet.ts";

/** A line of its own, ASCII: every other character is written as its code point. Ids have a monospaced font. */
export type CertificateLine = Run & { url?: string };
export type CertificateRow = { label: string; lines: CertificateLine[] };

/** A table that may extend over several pages. */
export type CertificateTable = {
  heading: string;
  /** `share`: fraction of the width. */
  columns: readonly { label: string; share: number }[];
  /** Lines by row and column. */
  rows: CertificateLine[][][];
};

/** Makes a row of text. */
export function row(label: string, text: string): CertificateRow {
  return { label: ascii(label), lines: [line(text)] };
}

/** Makes a row with a complete id. */
export function idRow(label: string, text: string): CertificateRow {
  return { label: ascii(label), lines: [idLine(text)] };
}

export function line(text: string): CertificateLine {
  return { text: ascii(text), font: "sans" };
}

export function idLine(text: string): CertificateLine {
  return { text: ascii(text), font: "mono" };
}

export function link(url: string): CertificateLine {
  return { ...idLine(url), url: ascii(url) };
}

/** Splits a sentence in which NUL characters enclose the ids. */
export function withIds(sentence: string): CertificateLine[] {
  const parts = sentence.split("\0").map((text, index) => (index % 2 === 0 ? line(text) : idLine(text)));
  return parts.filter(({ text }) => text !== "");
}
