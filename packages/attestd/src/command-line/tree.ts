import type { Command } from "commander";

/** Adds a command. @param description its lines: what it does, then examples */
export function subcommand(parent: Command, name: string, summary: string, ...description: string[]): Command {
  return parent.command(name).summary(summary).description(description.join("\n"));
}

/** A command and all below it. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** `attestd keys history`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
