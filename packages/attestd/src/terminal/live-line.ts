import { type Look, type Output, printable } from "./terminal.ts";

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
