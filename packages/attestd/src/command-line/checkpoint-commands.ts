import { type Command, InvalidArgumentError, Option } from "commander";
import type { Running } from "../environment.ts";
import { runs } from "./action.ts";
import { subcommand } from "./help.ts";
import { nodeUrl } from "./options.ts";

/** Commands on tables of checkpoints. */
export function addCheckpoints(program: Command, running: Running): void {
  const checkpoints = subcommand(
    program,
    "checkpoints",
    "what evidence rests on: sync, show, root, prove",
    "Tables of Algorand's checkpoints, on which evidence rests.",
    "  attestd checkpoints sync table.checkpoints --algod http://localhost:4001 --from c.json",
    "  attestd help checkpoints sync",
  )
    .usage("<command> [options]")
    .helpCommand(false);

  subcommand(
    checkpoints,
    "sync",
    "walk to the newest checkpoint, verifying each state proof",
    "Walk from a checkpoint to the newest, verify the state proof before each, and keep them in a table of 72 bytes each.",
    "What the node says is not believed. If interrupted, run the same command again: it goes on where it was.",
    "  attestd checkpoints sync table.checkpoints --algod http://localhost:4001 --from c.json",
    "  attestd checkpoints sync table.checkpoints --indexer https://indexer.example",
  )
    .argument("<table>", "the file of the table")
    .option("--algod <url>", "an Algorand node: an archival one for old rounds", nodeUrl)
    .option("--algod-token-file <file>", "its token")
    .addOption(new Option("--indexer <url>", "or an indexer").argParser(nodeUrl).conflicts("algod"))
    .option("--indexer-token-file <file>", "its token")
    .option(
      "--from <checkpoint>",
      "of a new table: a checkpoint that you trust, another table, or a shipped one's name",
    )
    .option("--to <round>", "end at the checkpoint of this round (default: the newest)", count)
    .option("--json", "print the result as JSON")
    .action(runs(running, async () => (await import("../commands/checkpoints.ts")).sync));

  subcommand(
    checkpoints,
    "show",
    "print what a table has",
    "Print what a table has; without one, the checkpoints that come with attestd, and where each is from.",
    "  attestd checkpoints show table.checkpoints",
  )
    .argument("[table]", "the file of the table")
    .option("--json", "print it as JSON")
    .action(runs(running, async () => (await import("../commands/checkpoints.ts")).show));

  subcommand(
    checkpoints,
    "root",
    "print the root of a table",
    "Print the root of a table (RFC 6962), or of its first checkpoints: what it was before it grew.",
    "  attestd checkpoints root table.checkpoints --size 1000",
  )
    .argument("<table>", "the file of the table")
    .addOption(size())
    .action(runs(running, async () => (await import("../commands/checkpoints.ts")).root));

  subcommand(
    checkpoints,
    "prove",
    "print the path from a checkpoint to the root",
    "Print a checkpoint of a table, the path from it to the table's root, and the root, as JSON.",
    "  attestd checkpoints prove table.checkpoints 60000000",
  )
    .argument("<table>", "the file of the table")
    .argument("<round>", "of the checkpoint", count)
    .addOption(size())
    .action(runs(running, async () => (await import("../commands/checkpoints.ts")).prove));
}

function size(): Option {
  return new Option("--size <n>", "of its first n checkpoints alone (default: of all)").argParser(count);
}

function count(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a whole number.");
}
