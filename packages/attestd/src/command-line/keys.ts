import { type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { lines } from "./help.ts";
import { otherLedger, settingsFile } from "./options.ts";
import { serviceUrl } from "./values.ts";

/** Commands for the keys of an attestor. */
export function addKeys(program: Command, { environment, finish }: Running): void {
  program
    .command("keygen")
    .summary("make the keys of an attestor")
    .description(
      lines(
        "Make the keys of an attestor: an Algorand account and an ML-DSA-65 seed, each in a file that only you can read.",
        "  attestd keygen --dir /etc/attestd",
      ),
    )
    .option("--dir <dir>", "folder for the two files", ".")
    .option("--json", "print what was made as JSON")
    .action(async (options) => {
      const { keygen } = await import("../commands/keygen.ts");
      finish(await keygen(options, environment));
    });

  const keys = program
    .command("keys")
    .summary("the keys of an attestor over time: history, rotate, revoke, restore")
    .description(
      lines(
        "The keys of an attestor over time.",
        "  attestd keys history --service https://attestd.example --save keys.json",
        "  attestd help keys rotate",
      ),
    )
    .usage("<command> [options]")
    .helpCommand(false);

  keys
    .command("history")
    .summary("print a key history, and check it")
    .description(
      lines(
        "Print a key history, and check it: every key is endorsed by the one before, and nothing is missing between.",
        "  attestd keys history --service https://attestd.example --save keys.json",
        "  attestd keys history --keys keys.json --indexer https://indexer.example",
        "  attestd keys history --env /etc/attestd.env          of your own service, from its journal",
      ),
    )
    .option("--service <url>", "the service that gives it (default: the sandbox's)", serviceUrl)
    .addOption(new Option("--keys <file>", "a file that holds it").conflicts("service"))
    .addOption(new Option("--env <file>", "settings of your own service").conflicts(["service", "keys"]))
    .addOption(
      new Option("--sandbox", "your own service's ledger may be another than MainNet").conflicts(["service", "keys"]),
    )
    .option("--indexer <url>", "also compare it with the notes on the ledger, as this indexer has them")
    .option("--indexer-token-file <file>", "its token (default: INDEXER_TOKEN, if INDEXER_URL is this indexer)")
    .option("--save <file>", "keep it there; an earlier copy that stands there must be continued by it")
    .option("--json", "print the history as JSON, as --keys takes it")
    .action(async (options) => {
      const { keysHistory } = await import("../commands/keys-history.ts");
      finish(await keysHistory(options, environment));
    });

  keys
    .command("rotate")
    .summary("replace the attestor's key")
    .description(
      lines(
        "Replace the attestor's key, while no service runs. Interrupted, the same command goes on.",
        "  attestd keys rotate --env /etc/attestd.env --seed-file /etc/attestd/attestor-2.pq-seed",
      ),
    )
    .requiredOption("--seed-file <file>", "the new seed; made there where there is none")
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--json", "print what was made as JSON")
    .action(async (options) => {
      const { keysRotate } = await import("../commands/keys-change.ts");
      finish(await keysRotate(options, environment));
    });

  keys
    .command("revoke")
    .summary("withdraw a key of the attestor")
    .description(
      lines(
        "Withdraw a key of the attestor, current or replaced. Interrupted, the same command goes on.",
        "  attestd keys revoke KID --from 46581204 --env /etc/attestd.env",
      ),
    )
    .argument("<kid>", "of the key, as the history names it")
    .option("--from <round>", "nothing by it counts from this round of the ledger on (default: the next)")
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--json", "print what was revoked as JSON")
    .action(async (kid, options) => {
      const { keysRevoke } = await import("../commands/keys-change.ts");
      finish(await keysRevoke(kid, options, environment));
    });

  keys
    .command("restore")
    .summary("put back into the journal what a restored backup has lost")
    .description(
      lines(
        "Put the keys of a saved history back into a journal whose backup is older, while no service runs.",
        "  attestd keys restore keys.json --env /etc/attestd.env",
      ),
    )
    .argument(
      "<file>",
      "the history, as `keys history --save` keeps it; the ledger must have a note of all that is new",
    )
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--json", "print the history as JSON")
    .action(async (file, options) => {
      const { keysRestore } = await import("../commands/keys-change.ts");
      finish(await keysRestore(file, options, environment));
    });
}
