import type { Command, Help } from "commander";
import { pathOf } from "./tree.ts";

/** Help with the description and examples first, then usage and options. */
export function describeFirst(command: Command, help: Help): string {
  const rows = (title: string, items: [term: string, text: string][]) => {
    const width = Math.max(...items.map(([term]) => term.length));
    return items.length === 0 ? [] : ["", title, ...items.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`)];
  };
  return lines(
    help.commandDescription(command),
    "",
    `Usage: ${help.commandUsage(command)}`,
    ...rows(
      "Commands:",
      help.visibleCommands(command).map((item) => [item.name(), help.subcommandDescription(item)]),
    ),
    ...rows(
      "Arguments:",
      help.visibleArguments(command).map((item) => [help.argumentTerm(item), help.argumentDescription(item)]),
    ),
    ...rows(
      "Options:",
      help.visibleOptions(command).map((item) => [help.optionTerm(item), help.optionDescription(item)]),
    ),
    ...(command.parent ? [] : ["", ...EXIT_CODES]),
    "",
  );
}

const EXIT_CODES = [
  "Exit codes: 0 good; 1 not verified, or signer unknown; 2 usage; 3 unreadable; 4 unreachable;",
  "  5 paid, unfinished (run it again); 6 not paid; 130 interrupted. Of several files: 1 before 3 before 4.",
];

/** Follows an error in the arguments of a command. */
export function whereToLook(command: Command): string {
  const path = pathOf(command);
  return lines(`  Usage: ${path} ${command.usage()}`, `  Examples, and what each means: ${path} --help`);
}

export function lines(...text: string[]): string {
  return text.join("\n");
}
