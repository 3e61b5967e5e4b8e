import { styleText } from "node:util";

export type Mark = "ok" | "fail" | "unknown" | "warning";

const MARKS: Record<Mark, { unicode: string; ascii: string; colour: "green" | "red" | "yellow" }> = {
  ok: { unicode: "✓", ascii: "ok", colour: "green" },
  fail: { unicode: "✕", ascii: "FAIL", colour: "red" },
  unknown: { unicode: "?", ascii: "?", colour: "yellow" },
  warning: { unicode: "⚠", ascii: "!", colour: "yellow" },
};

export type Input = NodeJS.ReadableStream & { isTTY?: boolean };
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** The streams of a process. A getter reads each only when it is needed: to read standard input opens it. */
export type Streams = { readonly stdin: Input; readonly stdout: Output; readonly stderr: Output };

/** How the reader wants to see things. */
export type Look = {
  /** Whether the locale's character set is UTF-8; else only ASCII is written. */
  unicode: boolean;
  colour: "never" | "on a terminal" | "always";
  /** The terminal can neither move its cursor nor show colour. */
  isDumb: boolean;
};

/** One stream that people read. */
export type Terminal = {
  /** Writes one line; whatever in it could move a cursor or reorder text is shown as its code point. */
  line(text?: string): void;
  /** Writes a line that begins with a mark, after `indent` spaces. */
  marked(mark: Mark, text: string, indent?: number): void;
  /** Writes a line of JSON, for programs. */
  json(value: object): void;
  /** Writes a text of our own as it is. */
  text(text: string): void;
  /** The first and last characters of an id. */
  short(id: string): string;
  /** The first characters of a hash or key; other text, which has spaces, whole. */
  head(value: string): string;
};

/** @param around calls a function that writes, and keeps the live line of the screen below what it writes */
export function terminal(stream: Output, look: Look, around: (write: () => void) => void): Terminal {
  const { unicode, colour, isDumb } = look;
  const isColoured = colour === "always" || (colour === "on a terminal" && stream.isTTY === true && !isDumb);
  const ellipsis = unicode ? "…" : "...";
  const text = (whole: string) => around(() => stream.write(whole));
  return {
    text,
    json: (value) => text(`${JSON.stringify(value)}\n`),
    line: (words = "") => text(`${printable(words, unicode)}\n`),
    marked(mark, words, indent = 0) {
      const sign = unicode ? MARKS[mark].unicode : MARKS[mark].ascii;
      const painted = isColoured ? styleText(MARKS[mark].colour, sign, { validateStream: false }) : sign;
      text(`${" ".repeat(indent)}${painted} ${printable(words, unicode)}\n`);
    },
    short: (id) => (id.length <= 16 ? id : `${id.slice(0, 6)}${ellipsis}${id.slice(-4)}`),
    head: (value) => (value.length <= 12 || value.includes(" ") ? value : `${value.slice(0, 8)}${ellipsis}`),
  };
}

/** Text from files and services is data: control, format (bidi) and separator characters are never sent to a terminal. */
export function printable(text: string, unicode: boolean): string {
  const escaped = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, codePoint);
  return unicode ? escaped : escaped.replaceAll("…", "...").replace(/[^\x20-\x7e]/gu, codePoint);
}

function codePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
