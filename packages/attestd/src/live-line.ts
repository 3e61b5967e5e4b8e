import { type Look, type Output, printable } from "./terminal.ts";

/** Work that takes its time. */
export type Working = {
  /** What is under way now; its time begins anew. Nothing, while something else has the screen. */
  say(what: string | undefined): void;
} & Disposable;

/** The last line of a screen, redrawn in its place while something is under way. */
export type LiveLine = {
  working(what?: string): Working;
  /** Lets something be written to the screen, above the line. */
  around(write: () => void): void;
};

/** What is done sooner than this is not worth a line that comes and goes, in ms. */
const PATIENCE_MS = 300;
const REDRAW_MS = 100;
/** ECMA-48: carriage return, erase to the end of the line. */
const ERASE = "\r\u001b[K";

/** @param stream where it is drawn, if that is a terminal that can erase */
export function liveLine(stream: Output, { unicode, isDumb }: Look): LiveLine {
  if (!stream.isTTY || isDumb) return { working: () => SILENT, around: (write) => write() };
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
    if (drawn !== undefined || performance.now() - begun >= PATIENCE_MS) draw();
  };
  const erase = () => {
    if (drawn !== undefined) stream.write(ERASE);
    drawn = undefined;
  };

  return {
    working(first) {
      const say = (next: string | undefined) => {
        if (next === undefined) erase();
        what = next;
        begun = performance.now();
      };
      say(first);
      const timer = setInterval(drawLate, REDRAW_MS).unref();
      return {
        say,
        [Symbol.dispose]() {
          clearInterval(timer);
          say(undefined);
        },
      };
    },
    around(write) {
      const isThere = drawn !== undefined;
      erase();
      write();
      if (isThere) draw();
    },
  };
}

const SILENT: Working = { say: () => undefined, [Symbol.dispose]: () => undefined };

/** The beginning of a text that fits a number of columns: a line that wraps cannot be erased. */
function fitting(text: string, columns: number): string {
  let width = 0;
  return [...text]
    .filter((character) => {
      // Other scripts have characters of two columns.
      width += character > "\u00ff" ? 2 : 1;
      return width <= columns;
    })
    .join("");
}
