import type { Command, Help } from "commander";

const EXIT_CODES = [
  "Exit codes: 0 good; 1 not verified, or signer unknown; 2 usage; 3 unreadable; 4 unreachable;",
  "  5 paid, unfinished (run it again); 6 not paid; 130 interrupted. For several files: 1 before 3 before 4.",
];

/** Formats help: first the description and the examples, then usage and options. */
export function describeFirst(command: Command, help: Help): string {
  const rows = (title: string, items: [term: string, text: string][]) => {
    const width = Math.max(...items.map(([term]) => term.length));
    return items.length === 0 ? [] : ["", title, ...items.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`)];
  };
  const commands = help.visibleCommands(command);
  const operands = help.visibleArguments(command);
  const options = help.visibleOptions(command);
  return [
    help.commandDescription(command),
    "",
    `Usage: ${help.commandUsage(command)}`,
    ...rows(
      "Commands:",
      commands.map((item) => [item.name(), help.subcommandDescription(item)]),
    ),
    ...rows(
      "Arguments:",
      operands.map((item) => [help.argumentTerm(item), help.argumentDescription(item)]),
    ),
    ...rows(
      "Options:",
      options.map((item) => [help.optionTerm(item), help.optionDescription(item)]),
    ),
    ...(command.parent ? [] : ["", ...EXIT_CODES]),
    "",
  ].join("\n");
}

/** The lines after an error in the arguments of a command. */
export function whereToLook(command: Command): string {
  const path = pathOf(command);
  return `  Usage: ${path} ${command.usage()}\n  Examples and options: ${path} --help`;
}

/** A command, its subcommands, and theirs. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** The full name of a command, e.g. `attestd keys history`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
