import { styleText } from "node:util";
import { ascii, printable as printableUnicode } from "@attestd/web/printable";

export type Mark = "ok" | "fail" | "unknown" | "warning";

const MARKS: Record<Mark, { unicode: string; ascii: string; colour: "green" | "red" | "yellow" }> = {
  ok: { unicode: "✓", ascii: "ok", colour: "green" },
  fail: { unicode: "✕", ascii: "FAIL", colour: "red" },
  unknown: { unicode: "?", ascii: "?", colour: "yellow" },
  warning: { unicode: "⚠", ascii: "!", colour: "yellow" },
};

export type Input = NodeJS.ReadableStream & { isTTY?: boolean };
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** The streams of a process. Each is accessed only when needed: an access to standard input opens it. */
export type Streams = { readonly stdin: Input; readonly stdout: Output; readonly stderr: Output };

/** How output looks. */
export type Look = {
  /** Whether the locale's character set is UTF-8; otherwise only ASCII is written. */
  unicode: boolean;
  colour: "never" | "on a terminal" | "always";
  /** The terminal supports neither cursor movement nor colour. */
  isDumb: boolean;
};

/** An output stream for people. */
export type Terminal = {
  /** Whether a person reads it. */
  readonly isTerminal: boolean;
  /** Writes one line; characters that could move a cursor or reorder text are shown as code points. */
  line(text?: string): void;
  /** Writes a line that begins with a mark, after `indent` spaces. */
  marked(mark: Mark, text: string, indent?: number): void;
  /** Writes a line of JSON, for programs. The characters that `line` replaces are escaped, so that the values stay the same. */
  json(value: object): void;
  /** Writes the result of a command: with `asJson` the value, for programs; without it a title with a mark, and further lines. */
  done(asJson: boolean | undefined, value: object, title: string, ...lines: string[]): void;
  /** Writes text unchanged. It must not come from files or services. */
  text(text: string): void;
  /** The first and last characters of an id. */
  short(id: string): string;
  /** The first characters of a hash or key; text with spaces is unchanged. */
  head(value: string): string;
};

/** Makes a terminal of a stream. @param around calls a function that writes, and keeps the live line below its output */
export function terminal(stream: Output, look: Look, around: (write: () => void) => void): Terminal {
  const { unicode, colour, isDumb } = look;
  const isColoured = colour === "always" || (colour === "on a terminal" && stream.isTTY === true && !isDumb);
  const ellipsis = unicode ? "…" : "...";
  const text = (words: string) => around(() => stream.write(words));
  const json = (value: object) => text(`${printableJson(value)}\n`);
  const line = (words = "") => text(`${printable(words, unicode)}\n`);
  const marked = (mark: Mark, words: string, indent = 0) => {
    const sign = unicode ? MARKS[mark].unicode : MARKS[mark].ascii;
    const painted = isColoured ? styleText(MARKS[mark].colour, sign, { validateStream: false }) : sign;
    text(`${" ".repeat(indent)}${painted} ${printable(words, unicode)}\n`);
  };
  return {
    isTerminal: stream.isTTY === true,
    text,
    json,
    line,
    marked,
    done(asJson, value, title, ...lines) {
      if (asJson) return json(value);
      marked("ok", title);
      for (const one of lines) line(one);
    },
    short: (id) => (id.length <= 16 ? id : `${id.slice(0, 6)}${ellipsis}${id.slice(-4)}`),
    head: (value) => (value.length <= 12 || value.includes(" ") ? value : `${value.slice(0, 8)}${ellipsis}`),
  };
}

/** Replaces control, format (bidi) and separator characters: text from files and services is data, and must not control a terminal. */
export function printable(text: string, unicode: boolean): string {
  return unicode ? printableUnicode(text) : ascii(text.replaceAll("…", "..."));
}

/** Makes JSON that a terminal shows as it is. JSON.stringify alone escapes only the first 32 control characters. */
function printableJson(value: object): string {
  return JSON.stringify(value).replace(UNPRINTABLE, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
