import { Writable } from "node:stream";
import pino from "pino";
import { expect, test } from "vitest";
import { readableLog, terminal } from "./terminal.ts";

const LOOK = { unicode: true, colour: "on a terminal", isDumb: false } as const;

function stream(isTTY: boolean) {
  const chunks: string[] = [];
  const sink = new Writable({
    write: (chunk, _, done) => {
      chunks.push(String(chunk));
      done();
    },
  });
  return { written: () => chunks.join(""), out: terminal(Object.assign(sink, { isTTY }), LOOK, (write) => write()) };
}

test("a terminal gets a line for people, in which nothing from outside moves a cursor or looks like another entry", async () => {
  const { written, out } = stream(true);
  const log = pino({ redact: ["secret"] }, await readableLog(out));
  log.info(
    { key: "a\u001b[2Jb\n[12:00:00] INFO: c", secret: "s3cret" },
    "paid\u001b]0;x\u0007\n[12:00:00] INFO: listening",
  );
  log.error({ err: new Error("it broke") }, "failed");
  const [first = "", second = "", ...more] = written().split("\n");
  expect(first).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: paid.*\]0;x/);
  expect(second).toMatch(
    /^ {4}\[12:00:00\] INFO: listening \{"key":"a\\u001b\[2Jb\\n\[12:00:00\] INFO: c","secret":"\[Redacted\]"\}$/,
  );
  expect(more[0]).toMatch(/^\[\d\d:\d\d:\d\d\] ERROR: failed/);
  expect(more.slice(1).every((line) => line === "" || line.startsWith("    "))).toBe(true);
  expect(more.join("\n")).toContain("it broke");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  expect([first, second, ...more].join("")).not.toMatch(/[\u0000-\u001f]/);
});

test("a pipe gets JSON as it is", async () => {
  expect(await readableLog(stream(false).out)).toBeUndefined();
});
