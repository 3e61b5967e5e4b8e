import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { everyCommand, pathOf, program } from "../packages/attestd/src/program.ts";
import { environmentOf } from "../packages/attestd/src/terminal/environment.ts";

const page = readFileSync(join(import.meta.dirname, "command-line.md"), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test("the page lists every command with its summary, and no other", () => {
  const parser = program({
    environment: environmentOf({}, process, () => new AbortController().signal),
    finish: () => undefined,
  });
  const commands = everyCommand(parser).filter((command) => command !== parser && command.commands.length === 0);
  const expected = commands.map((command) => [`\`${pathOf(command)}\``, command.summary()]);
  expect(rows.filter(([name]) => name?.startsWith("`attestd "))).toEqual(expected);
});
