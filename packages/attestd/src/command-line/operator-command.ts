import type { Command } from "commander";
import { subcommand } from "./help.ts";
import { otherLedger, settingsFile } from "./options.ts";

/** A command of an operator, on the service's settings. */
export function operatorCommand(parent: Command, name: string, summary: string, ...description: string[]): Command {
  return subcommand(parent, name, summary, ...description)
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--json", "print the result as JSON");
}
