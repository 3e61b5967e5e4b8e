import type { Argument, Command, Option } from "commander";
import { oneMoreKid } from "../command-line/options.ts";
import { everyCommand, pathOf } from "../command-line/tree.ts";

/** The possible values of an argument: one of some words, a path, or something that cannot be completed. */
export type Value = { kind: "words"; words: readonly string[] } | { kind: "file" | "folder" | "other" };

export type CompletedOption = {
  /** With dashes, the short one first. */
  names: string[];
  description: string;
  /** Absent for a flag. */
  value?: Value & { name: string };
  repeats: boolean;
};

export type Operand = Value & { name: string; repeats: boolean };

export type CompletedCommand = {
  /** `attestd keys history`. */
  path: string;
  options: CompletedOption[];
  operands: Operand[];
  commands: { name: string; description: string }[];
};

/** A command and all below it. */
export function completedCommands(program: Command): CompletedCommand[] {
  const help = program.createHelp();
  return everyCommand(program).map((command) => ({
    path: pathOf(command),
    options: help.visibleOptions(command).map(completedOption),
    operands: command.registeredArguments.map(operand),
    commands: command.commands.map((one) => ({ name: one.name(), description: one.summary() })),
  }));
}

function completedOption(option: Option): CompletedOption {
  const { short, long, description, required, argChoices, flags, parseArg } = option;
  const placeholder = /<(.+)>/.exec(flags)?.[1] ?? "";
  return {
    names: [short, long].filter((name) => name !== undefined),
    description,
    ...(required && { value: { ...placed(placeholder, argChoices), name: placeholder } }),
    repeats: parseArg === oneMoreKid,
  };
}

function operand(argument: Argument): Operand {
  const name = argument.name();
  return { ...placed(name, argument.argChoices), name, repeats: argument.variadic };
}

/** Infers the kind of value from its placeholder. */
function placed(placeholder: string, words: readonly string[] | undefined): Value {
  if (words) return { kind: "words", words };
  if (/^files?$/.test(placeholder)) return { kind: "file" };
  return { kind: placeholder === "dir" ? "folder" : "other" };
}
