import type { Command } from "commander";
import type { Running } from "../environment.ts";
import { lines } from "./help.ts";
import { otherLedger, settingsFile } from "./options.ts";

/** Commands that run until they are stopped. */
export function addRunning(program: Command, { environment, finish }: Running): void {
  program
    .command("sandbox")
    .summary("run everything locally, without real money")
    .description(
      lines(
        "Run local networks with funded wallets, and the service on them. No real money; nothing leaves this machine.",
        "  attestd sandbox",
        "  attestd sandbox --port 0 --round-ms 200",
        "  attestd sandbox --replay recordings/    also serve recorded transactions",
      ),
    )
    .option("--port <n>", "port of the service, 0 for a free one (default: $PORT, else 4020)")
    .option("--round-ms <n>", "time between rounds of the ledger", "1000")
    .option("--replay <dir>", "recorded transactions and blocks to serve beside the simulated ones")
    .option("--dir <dir>", "folder for its wallets, keys and settings", ".attestd")
    .action(async (options) => {
      const { sandbox } = await import("../commands/sandbox.ts");
      finish(await sandbox(options, environment));
    });

  program
    .command("serve")
    .summary("run the service")
    .description(
      lines(
        "Run the service. Settings come from the environment, and from a file where the environment has none.",
        "  attestd serve --env /etc/attestd.env",
        "  attestd serve --sandbox                 again, on the networks of a running sandbox",
      ),
    )
    .addOption(settingsFile())
    .addOption(otherLedger())
    .action(async (options) => {
      const { serve } = await import("../commands/serve.ts");
      finish(await serve(options, environment));
    });
}
