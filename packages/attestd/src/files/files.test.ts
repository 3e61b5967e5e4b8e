import { execFileSync } from "node:child_process";
import { constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/helpers/temporary-folder.ts";
import { readFound, readNamed } from "./files.ts";

/** A pipe that the shell passes, as `<(…)` does, whose writer stays open. `fd` is closed by its reader. */
async function passedPipe() {
  const folder = await temporaryFolder();
  const path = join(folder.path, "pipe");
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return { fd, name: `/dev/fd/${fd}`, path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a signal ends the wait for a pipe that the shell passes", async () => {
  await using pipe = await passedPipe();
  const stop = new AbortController();
  const reading = readNamed(pipe.name, 10, stop.signal);
  stop.abort("SIGTERM");
  await expect(reading).rejects.toMatchObject({ exitCode: 130, message: "interrupted" });
});

test("a pipe that the shell passes is read, and no more of it than a file may have", async () => {
  await using pipe = await passedPipe();
  writeSync(pipe.fd, "12345678901");
  await expect(readNamed(pipe.name, 10)).rejects.toMatchObject({ code: "TOO_LARGE" });
});

test("a pipe that stands in a folder is not waited for, whether it was named or found", async () => {
  await using pipe = await passedPipe();
  await expect(readNamed(pipe.path, 10)).rejects.toMatchObject({ code: "NOT_A_FILE" });
  expect(() => readFound(pipe.path, 10)).toThrow("It is a named pipe, not a file.");
  expect(() => readFound(pipe.name, 10)).toThrow(expect.objectContaining({ code: "NOT_A_FILE" }));
});
