import { type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { runs } from "./action.ts";
import { subcommand } from "./help.ts";
import { operatorCommand, serviceUrl } from "./options.ts";

/** Commands on the keys of the attestor. */
export function addKeys(program: Command, running: Running): void {
  subcommand(
    program,
    "keygen",
    "make the keys of an attestor",
    "Make the keys of an attestor: an Algorand account and an ML-DSA-65 seed, each in a file that only you can read.",
    "  attestd keygen --dir /etc/attestd",
    "  attestd keygen --falcon --dir /etc/attestd      an account that is post-quantum too",
  )
    .option("--dir <dir>", "folder for the two files", ".")
    .option("--falcon", "an account that authorises with Falcon-1024, post-quantum, on a ledger of consensus v42")
    .option("--json", "print what was made as JSON")
    .action(runs(running, async () => (await import("../commands/keygen.ts")).keygen));

  const keys = subcommand(
    program,
    "keys",
    "the keys of an attestor over time: history, rotate, rekey, revoke, restore",
    "The keys of an attestor over time.",
    "  attestd keys history --service https://attestd.example --save keys.json",
    "  attestd help keys rotate",
  )
    .usage("<command> [options]")
    .helpCommand(false);

  subcommand(
    keys,
    "history",
    "print a key history, and check it",
    "Print a key history after checking that each key endorses the next one and no key is missing between.",
    "  attestd keys history --service https://attestd.example --save keys.json",
    "  attestd keys history --keys keys.json --indexer https://indexer.example",
    "  attestd keys history --env /etc/attestd/env          of your own service, from its journal",
  )
    .option("--service <url>", "the service that publishes it (default: the sandbox's)", serviceUrl)
    .addOption(new Option("--keys <file>", "a file that contains it").conflicts("service"))
    .addOption(new Option("--env <file>", "settings of your own service").conflicts(["service", "keys"]))
    .addOption(
      new Option("--sandbox", "allow a ledger other than MainNet for your own service").conflicts(["service", "keys"]),
    )
    .option("--indexer <url>", "also compare it with the notes on the ledger that this indexer returns")
    .option("--indexer-token-file <file>", "its token (default: INDEXER_TOKEN, if INDEXER_URL is this indexer)")
    .option("--save <file>", "save it to this file; an earlier copy there is replaced only if the history continues it")
    .option("--json", "print the history as JSON, in the format of --keys")
    .action(runs(running, async () => (await import("../commands/keys-history.ts")).keysHistory));

  operatorCommand(
    keys,
    "rotate",
    "replace the attestor's key",
    "Replace the attestor's key, while no service runs. If interrupted, run the same command again.",
    "  attestd keys rotate --env /etc/attestd/env --seed-file /etc/attestd/attestor-2.pq-seed",
    "  attestd keys rotate --env /etc/attestd/env --next /etc/attestd/next.env",
  )
    .option("--seed-file <file>", "the new seed; a file that does not exist is created with one")
    .option("--next <file>", "settings of the next key, for a key of a signer: all that begin with ATTESTOR_")
    .option("--from <round>", "first round of the new key (default: some ten from now); a signer's record names it")
    .action(runs(running, async () => (await import("../commands/keys-change.ts")).keysRotate));

  operatorCommand(
    keys,
    "rekey",
    "give the attestor's account another key, under the same address",
    "Give the attestor's account another key, while no service runs. Its address and the key history stay.",
    "  attestd keygen --falcon --dir /etc/attestd/next",
    "  attestd keys rekey --env /etc/attestd/env --next /etc/attestd/next.env",
  )
    .requiredOption(
      "--next <file>",
      "settings of the next key: all that begin with ATTESTOR_, ATTESTOR_ADDRESS among them",
    )
    .action(runs(running, async () => (await import("../commands/keys-change.ts")).keysRekey));

  operatorCommand(
    keys,
    "revoke",
    "withdraw a key of the attestor",
    "Withdraw a key of the attestor, current or replaced. If interrupted, run the same command again.",
    "  attestd keys revoke KID --from 46581204 --env /etc/attestd/env",
  )
    .argument("<kid>", "id of the key, as the history lists it")
    .option("--from <round>", "round of the ledger from which its signatures do not count (default: the next)")
    .action(runs(running, async () => (await import("../commands/keys-change.ts")).keysRevoke));

  operatorCommand(
    keys,
    "restore",
    "put back into the journal what a restored backup has lost",
    "Put the keys of a saved history back into a journal whose backup is older, while no service runs.",
    "  attestd keys restore keys.json --env /etc/attestd/env",
  )
    .argument("<file>", "the history, as `keys history --save` writes it; the ledger must have a note of all new keys")
    .action(runs(running, async () => (await import("../commands/keys-change.ts")).keysRestore));
}
