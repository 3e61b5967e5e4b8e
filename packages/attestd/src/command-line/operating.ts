import { type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { lines } from "./help.ts";
import { otherLedger, settingsFile } from "./options.ts";

/** Commands for operators, on the journal. */
export function addOperating(program: Command, { environment, finish }: Running): void {
  program
    .command("audit")
    .summary("compare the journal with the ledger and the rails")
    .description(
      lines(
        "Compare the journal with the ledger and the rails, and print what does not match. Nothing is written.",
        "  attestd audit --env /etc/attestd.env",
        "  attestd audit --env /etc/attestd.env --since 2026-11-20 --json | jq .findings",
        "",
        "Bind a payment that the journal has lost to what it was for; the payer's replay then gets its bundle.",
        "  attestd audit --env /etc/attestd.env --adopt PAYMENT --txid TXID",
      ),
    )
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--since <time>", "read the chains from then on (default: from the attestor's beginning)")
    .option("--adopt <payment>", "payment key, or transaction id of the payment")
    .option("--txid <txid>", "with --adopt: the transaction that the payment was for")
    .addOption(new Option("--chain <name>", "with --adopt: its chain").choices(["algorand", "base"]))
    .option("--height <n>", "with --adopt and --chain: the block that the payment was for, or the block of --txid")
    .option("--json", "print the report as JSON")
    .action(async (options) => {
      const { audit } = await import("../commands/audit.ts");
      finish(await audit(options, environment));
    });

  program
    .command("refund")
    .summary("record that a payment was given back")
    .description(
      lines(
        "Record that you gave a payment back, of a call that is owed for a day and can no longer be attested for.",
        "  attestd refund PAYMENT_KEY --transaction TXID --env /etc/attestd.env",
      ),
    )
    .argument("<payment key>", "of the call, as the audit and the log name it")
    .requiredOption("--transaction <id>", "on the payment's chain, by which the payer got its money")
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--json", "print what was recorded as JSON")
    .action(async (key, options) => {
      const { refund } = await import("../commands/refund.ts");
      finish(await refund(key, options, environment));
    });
}
