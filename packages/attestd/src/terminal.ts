import { styleText } from "node:util";

export type Mark = "ok" | "fail" | "unknown" | "warning";

const MARKS: Record<Mark, { unicode: string; ascii: string; colour: "green" | "red" | "yellow" }> = {
  ok: { unicode: "✓", ascii: "ok", colour: "green" },
  fail: { unicode: "✕", ascii: "FAIL", colour: "red" },
  unknown: { unicode: "?", ascii: "?", colour: "yellow" },
  warning: { unicode: "⚠", ascii: "!", colour: "yellow" },
};

/** One stream that people read. Colour only where it is a terminal and NO_COLOR is unset, which `styleText` looks at. */
export type Terminal = {
  /** Writes one line; whatever in it could move a cursor or reorder text is shown as its code point. */
  line(text?: string): void;
  /** Writes a line that begins with a mark, after `indent` spaces. */
  marked(mark: Mark, text: string, indent?: number): void;
  /** The first and last characters of an id. */
  short(id: string): string;
  /** The first characters of a hash or key; other text, which has spaces, whole. */
  head(value: string): string;
};

/** @param unicode whether the reader's locale can show more than ASCII */
export function terminal(stream: NodeJS.WriteStream, unicode: boolean): Terminal {
  const ellipsis = unicode ? "…" : "...";
  const write = (text: string) => stream.write(`${text}\n`);
  return {
    line: (text = "") => write(printable(text, unicode)),
    marked(mark, text, indent = 0) {
      const { colour, ...sign } = MARKS[mark];
      const painted = styleText(colour, unicode ? sign.unicode : sign.ascii, { stream });
      write(`${" ".repeat(indent)}${painted} ${printable(text, unicode)}`);
    },
    short: (id) => (id.length <= 16 ? id : `${id.slice(0, 6)}${ellipsis}${id.slice(-4)}`),
    head: (value) => (value.length <= 12 || value.includes(" ") ? value : `${value.slice(0, 8)}${ellipsis}`),
  };
}

/** Text from files and services is data: control, format (bidi) and separator characters are never sent to a terminal. */
function printable(text: string, unicode: boolean): string {
  const escaped = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, codePoint);
  return unicode ? escaped : escaped.replaceAll("…", "...").replace(/[^\x20-\x7e]/gu, codePoint);
}

function codePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
