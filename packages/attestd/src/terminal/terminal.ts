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

/**
 * Makes a stream that takes the service's log, one JSON object a line, and writes it for a person at a terminal (pino-pretty).
 * A stranger may have written parts of a line. So control characters are shown as code points, and further lines of a message
 * or a stack are indented: none looks like an entry of its own.
 *
 * @returns undefined unless the output is a terminal: programs read the JSON
 */
export async function readableLog(out: Terminal) {
  if (!out.isTerminal) return undefined;
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    colorize: false,
    singleLine: true,
    ignore: "pid,hostname",
    translateTime: "SYS:HH:MM:ss",
  });
  return {
    write(entry: string) {
      const [first = "", ...more] = String(pretty(entry)).trimEnd().split("\n");
      out.line(first);
      for (const line of more) out.line(`    ${line.trim()}`);
    },
  };
}

/** Work in progress. */
export type Working = {
  /** Sets the text and restarts its time; undefined hides the line. */
  show(what: string | undefined): void;
} & Disposable;

/** Work that takes less time is not shown. */
const SHOWN_AFTER_MS = 300;
const REDRAW_MS = 100;
/** ECMA-48: carriage return, erase to the end of the line. */
const ERASE = "\r\u001b[K";

/**
 * Makes the last line of a screen, which is redrawn in place while work is in progress. It does nothing if the stream is not a
 * terminal that can erase. `around` calls a function whose output goes above the line.
 */
export function liveLine(stream: Output, { unicode, isDumb }: Look) {
  if (!stream.isTTY || isDumb) return { working: () => SILENT, around: (write: () => void) => write() };
  let what: string | undefined;
  let begun = 0;
  let drawn: string | undefined;

  const draw = () => {
    if (what === undefined) return;
    const ms = performance.now() - begun;
    const seconds = ms < 1000 ? "" : `  ${Math.floor(ms / 1000)} s`;
    const line = fitting(printable(`  ${what}…${seconds}`, unicode), (stream.columns ?? 80) - 1);
    if (line === drawn) return;
    stream.write(ERASE + line);
    drawn = line;
  };
  const drawLate = () => {
    if (drawn !== undefined || performance.now() - begun >= SHOWN_AFTER_MS) draw();
  };
  const erase = () => {
    if (drawn !== undefined) stream.write(ERASE);
    drawn = undefined;
  };

  return {
    working(first?: string): Working {
      const show = (next: string | undefined) => {
        if (next === undefined) erase();
        what = next;
        begun = performance.now();
      };
      show(first);
      const timer = setInterval(drawLate, REDRAW_MS).unref();
      return {
        show,
        [Symbol.dispose]() {
          clearInterval(timer);
          show(undefined);
        },
      };
    },
    around(write: () => void): void {
      const isThere = drawn !== undefined;
      erase();
      write();
      if (isThere) draw();
    },
  };
}

const SILENT: Working = { show: () => undefined, [Symbol.dispose]: () => undefined };

/** Cuts a text to a number of columns: a wrapped line cannot be erased. */
function fitting(text: string, columns: number): string {
  let width = 0;
  return [...text]
    .filter((character) => {
      // Characters of other scripts may take two columns.
      width += character > "\u00ff" ? 2 : 1;
      return width <= columns;
    })
    .join("");
}
