import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { choice, command, conflicting, flag, group, operand, required, value, values, withDefault } from "./command.ts";
import { EXIT, Failure } from "./failure.ts";
import { wholeNumber } from "./options.ts";
import { COMMANDS, run } from "./program.ts";
import { environmentOf } from "./terminal/environment.ts";

/** What the made-up command got. */
let got: unknown[] = [];

/** All that a new command needs: its declaration, in a folder of its own, and its place in COMMANDS (program.ts). */
const weigh = command({
  name: "weigh",
  summary: "weigh bundles",
  help: ["Weigh bundles.", "  attestd weigh b.json --unit kg"],
  operands: [operand("<unit>", "unit of the result"), operand("<files...>", "files of bundles")],
  options: {
    atLeast: withDefault(value("<n>", "the least weight", wholeNumber("a whole number from 0 to 9", 0, 9)), 1),
    scale: required(choice("<name>", "the scale", ["old", "new"])),
    tare: values("<n>", "a weight to subtract; may be repeated", Number),
    dryRun: flag("weigh nothing"),
    wet: conflicting(flag("weigh it wet"), "dryRun"),
  },
  run(unit, files, { atLeast, scale, tare = [], ...flags }, environment) {
    // Types follow from the declaration: a wrong one would not compile.
    const typed: [string, string[], number, "old" | "new", number[]] = [unit, files, atLeast, scale, tare];
    got = [...typed, flags];
    if (files.includes("heavy")) throw new Failure(EXIT.unreadable, "can't lift heavy", ["It is too heavy."]);
    environment.out.line("weighed");
    return files.includes("light") ? EXIT.notVerified : EXIT.good;
  },
});

async function attestd(line: string) {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += chunk;
        done();
      },
    });
  const streams = { stdin: process.stdin, stdout: stream("stdout"), stderr: stream("stderr") };
  const environment = environmentOf({ LANG: "C.UTF-8" }, streams, () => new AbortController().signal);
  const things = group({ name: "things", summary: "things", help: ["Things."], commands: [weigh] });
  const code = await run(line.split(" "), environment, [...COMMANDS, weigh, things]);
  return { code, ...written };
}

test("a made-up command is declared once: help, parsing, exit codes and errors follow", async () => {
  expect((await attestd("--help")).stdout).toMatch(/\n {2}weigh +weigh bundles\n/);
  const { stdout } = await attestd("help weigh");
  expect(stdout).toMatch(/^Weigh bundles\.\n {2}attestd weigh b\.json --unit kg\n/);
  expect(stdout).toContain("Usage: attestd weigh [options] <unit> <files...>\n");
  for (const option of ["--at-least <n>", "--scale <name>", "--tare <n>", "--dry-run", "--wet"])
    expect(stdout).toContain(`  ${option}  `);

  expect(await attestd("weigh kg a b --scale new --tare 1 --tare 2 --dry-run")).toEqual({
    code: 0,
    stdout: "weighed\n",
    stderr: "",
  });
  expect(got).toEqual(["kg", ["a", "b"], 1, "new", [1, 2], { dryRun: true }]);
  expect((await attestd("things weigh kg light --scale old --at-least 9")).code).toBe(1);
  expect(got).toEqual(["kg", ["light"], 9, "old", [], {}]);
  expect(await attestd("weigh kg heavy --scale old")).toEqual({
    code: 3,
    stdout: "",
    stderr: "attestd: can't lift heavy\n  It is too heavy.\n",
  });
});

test.each([
  ["weigh kg a", "required option '--scale <name>' not specified"],
  ["weigh kg --scale old", "missing required argument 'files'"],
  ["weigh kg a --scale odd", "'odd' is invalid. Allowed choices are old, new."],
  ["weigh kg a --scale old --at-least 10", "'10' is invalid. Write a whole number from 0 to 9."],
  ["weigh kg a --scale old --wet --dry-run", "option '--wet' cannot be used with option '--dry-run'"],
])("attestd %s is a usage error of the made-up command", async (line, words) => {
  got = [];
  const { code, stderr } = await attestd(line);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  expect(stderr).toContain("  Examples and options: attestd weigh --help\n");
  expect(got).toEqual([]);
});
