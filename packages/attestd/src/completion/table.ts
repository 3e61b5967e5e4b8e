import type { Command } from "commander";
import { everyCommand, pathOf } from "../command-line/help.ts";
import { oneMore, oneMoreKid, oneMoreRoot } from "../command-line/options.ts";

/** The possible values of an argument: words, a path, or something that cannot be completed. */
export type Value = readonly string[] | "file" | "folder" | "other";

/** A command with its path (`attestd keys history`), its options, operands and subcommands. */
export type CompletedCommand = ReturnType<typeof completedCommands>[number];
export type CompletedOption = CompletedCommand["options"][number];
export type Operand = CompletedCommand["operands"][number];

/** The parsers of what may be given more than once. */
const REPEATED: readonly unknown[] = [oneMore, oneMoreKid, oneMoreRoot];

/** A command and all below it. */
export function completedCommands(program: Command) {
  const help = program.createHelp();
  return everyCommand(program).map((command) => ({
    path: pathOf(command),
    options: help.visibleOptions(command).map(({ short, long, description, required, argChoices, flags, parseArg }) => {
      const name = /<(.+)>/.exec(flags)?.[1] ?? "";
      return {
        /** With dashes, the short one first. */
        names: [short, long].filter((one) => one !== undefined),
        description,
        /** Absent for a flag. */
        operand: required ? { name, value: valueNamed(name, argChoices) } : undefined,
        repeats: REPEATED.includes(parseArg),
      };
    }),
    operands: command.registeredArguments.map((argument) => {
      const name = argument.name();
      return { name, value: valueNamed(name, argument.argChoices), repeats: argument.variadic };
    }),
    commands: command.commands.map((one) => ({ name: one.name(), description: one.summary() })),
  }));
}

/** Infers the kind of value from its placeholder. */
function valueNamed(placeholder: string, words: readonly string[] | undefined): Value {
  if (words) return words;
  if (/^(files?|table|list|path|checkpoint)$/.test(placeholder)) return "file";
  return /^(dir|folder)$/.test(placeholder) ? "folder" : "other";
}
