import { ascii } from "../printable.ts";
import type { Run } from "./sheet.ts";

/** A line of its own, ASCII: every other character is written as its code point. An id is in letters of one width. */
export type CertificateLine = { text: string; isId: boolean; url?: string };
export type CertificateRow = { label: string; lines: CertificateLine[] };

/** A row of text. */
export function row(label: string, text: string): CertificateRow {
  return { label: ascii(label), lines: [line(text)] };
}

/** A row of an id in full. */
export function idRow(label: string, text: string): CertificateRow {
  return { label: ascii(label), lines: [idLine(text)] };
}

export function line(text: string): CertificateLine {
  return { text: ascii(text), isId: false };
}

export function idLine(text: string): CertificateLine {
  return { text: ascii(text), isId: true };
}

export function link(url: string): CertificateLine {
  return { ...idLine(url), url: ascii(url) };
}

/** A sentence in which ids stand between NUL characters. */
export function withIds(sentence: string): Run[] {
  return sentence
    .split("\0")
    .map((text, index) => ({ text: ascii(text), font: index % 2 === 0 ? ("sans" as const) : ("mono" as const) }))
    .filter(({ text }) => text !== "");
}
