import { type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { runs } from "./action.ts";
import { subcommand } from "./help.ts";
import { nodeUrl, operatorCommand, otherLedger, settingsFile, wholeDays } from "./options.ts";

/** Commands that run until they are stopped. */
export function addRunning(program: Command, running: Running): void {
  subcommand(
    program,
    "sandbox",
    "run everything locally, without real money",
    "Run local networks with funded wallets, and the service on them. No real money; nothing leaves this machine.",
    "  attestd sandbox                         again: the same sandbox goes on",
    "  attestd sandbox --fresh                 a new one, with other keys and empty chains",
    "  attestd sandbox --port 0 --round-ms 200",
    "  attestd sandbox --replay recordings/    also serve recorded transactions",
  )
    .option("--port <n>", "port of the service, 0 for a free one (default: $PORT, else 4020)")
    .option("--round-ms <n>", "time between rounds of the ledger", "1000")
    .option(
      "--base-block-ms <n>",
      "time between blocks of Base; 200: as Base makes them itself (default: as --round-ms)",
    )
    .option("--state-proof-interval <n>", "rounds of one state proof: 16 to 256, a power of two; 0: none", "16")
    .option("--replay <dir>", "recorded transactions and blocks to serve beside the simulated ones")
    .option("--dir <dir>", "folder for its wallets, keys, chains and settings", ".attestd")
    .option("--fresh", "forget the sandbox in the folder, and start a new one")
    .action(runs(running, async () => (await import("../commands/sandbox.ts")).sandbox));

  subcommand(
    program,
    "serve",
    "run the service",
    "Run the service. Settings come from the environment, and from a file where the environment has none.",
    "  attestd serve --env /etc/attestd/env",
    "  attestd serve --sandbox                 again, on the networks of a running sandbox",
  )
    .addOption(settingsFile())
    .addOption(otherLedger())
    .option("--wait <seconds>", "how long to wait for nodes or a database that are away at start", "0")
    .action(runs(running, async () => (await import("../commands/serve.ts")).serve));
}

/** The process that holds the attestor's keys apart from the service. */
export function addSigner(program: Command, running: Running): void {
  subcommand(
    program,
    "signer",
    "hold the attestor's keys apart from the service",
    "Sign on a Unix socket what a service of this attestor asks for, and nothing else. docs/signer.md has the rule.",
    "  attestd signer --socket /run/attestd-signer/signer.sock --seed-file attestor.pq-seed --mnemonic-file attestor.mnemonic",
    "  attestd serve --env /etc/attestd/env    with ATTESTOR_SIGNER=socket and ATTESTOR_SIGNER_SOCKET",
  )
    .requiredOption("--socket <path>", "where to listen; in a folder where nobody else may write")
    .requiredOption("--seed-file <file>", "the ML-DSA-65 seed, as attestd keygen writes it")
    .option("--mnemonic-file <file>", "the account's 25 words, as attestd keygen writes them")
    .option("--falcon-mnemonic-file <file>", "instead: those of a Falcon key, as attestd keygen --falcon writes them")
    .option("--address <address>", "of the account, where it is rekeyed to that key (default: the key's own)")
    .option("--group", "let the socket's group connect too: mode 0660 instead of 0600")
    .option("--genesis-hash <base64>", "of the ledger to sign for (default: Algorand MainNet's)")
    .option("--endorse <hash>", "also sign this record of a next key, as `keys rotate` prints it; without it, none")
    .option("--revoke <hash>", "also sign this record of a revocation, as `keys revoke` prints it; without it, none")
    .option("--rekey <address>", "also sign that the account is rekeyed to this address; without it, to none")
    .option("--per-minute <n>", "signatures a minute of both keys together (default: no limit)")
    .action(runs(running, async () => (await import("../commands/signer.ts")).signer));
}

/** Commands that examine a deployment. */
export function addExamining(program: Command, running: Running): void {
  operatorCommand(
    program,
    "doctor",
    "examine a deployment: every setting and every upstream",
    "Examine every setting and every upstream of a deployment, and print what to do. Nothing is changed or spent.",
    "  attestd doctor --env /etc/attestd/env",
    "  attestd doctor --env /etc/attestd/env --json | jq 'select(.mark != \"ok\")'",
  ).action(runs(running, async () => (await import("../commands/doctor.ts")).doctor));

  operatorCommand(
    program,
    "costs",
    "compute what an attestation costs, and what remains",
    "Compute what an attestation costs on each rail of a service, what remains of its price, and for how many its ALGO lasts.",
    "  attestd costs --env /etc/attestd/env --algo-price 0.20 --settlement base=0.001 solana=0.001",
  )
    .requiredOption("--algo-price <usd>", "what an ALGO costs now")
    .option("--settlement <rail=usd...>", "what the facilitator of a rail takes for a settlement (default: 0)")
    .action(runs(running, async () => (await import("../commands/costs.ts")).costs));
}

/** Commands on the journal. */
export function addJournal(program: Command, running: Running): void {
  operatorCommand(
    program,
    "audit",
    "compare the journal with the ledger and the rails",
    "Compare the journal with the ledger and the rails, and print what does not match. Nothing is written.",
    "  attestd audit --env /etc/attestd/env",
    "  attestd audit --env /etc/attestd/env --since 2026-11-20 --json | jq .findings",
    "",
    "Assign a payment that the journal has lost to its request; the payer then gets the bundle by sending both again.",
    "  attestd audit --env /etc/attestd/env --adopt PAYMENT --txid TXID",
  )
    .option("--since <time>", "read the chains from this time on (default: from the attestor's first round)")
    .option("--adopt <payment>", "payment key, or transaction id of the payment")
    .option("--txid <txid>", "with --adopt: the transaction that the payment was for")
    .addOption(new Option("--chain <name>", "with --adopt: its chain").choices(["algorand", "base"]))
    .option("--height <n>", "with --adopt and --chain: the block that the payment was for, or the block of --txid")
    .action(runs(running, async () => (await import("../commands/journal.ts")).audit));

  operatorCommand(
    program,
    "backup",
    "save the journal, the key history and the settings",
    "Save the journal, the key history and the settings to a new folder, while the service sells; without the seeds.",
    "  attestd backup --env /etc/attestd/env --to /backups/2026-11-23",
    "  attestd backup --verify /backups/2026-11-23         read every byte of it, on any machine",
  )
    .addOption(new Option("--to <folder>", "the new folder").conflicts("verify"))
    .option("--verify <folder>", "check a backup instead")
    .action(runs(running, async () => (await import("../commands/backup.ts")).backup));

  operatorCommand(
    program,
    "restore",
    "put the journal of a backup where there is none",
    "Put the journal of a backup where DATABASE_URL names none yet. Audit before you sell again.",
    "  attestd restore /backups/2026-11-23 --env /etc/attestd/env",
    "",
    "After a snapshot, a recovery to a point in time, or a switch to a standby that was behind, and before you sell again:",
    "  attestd restore --in-place --env /etc/attestd/env",
  )
    .argument("[folder]", "the backup")
    .option("--in-place", "the journal that DATABASE_URL names was put back by other means")
    .action(runs(running, async () => (await import("../commands/backup.ts")).restore));

  operatorCommand(
    program,
    "prune",
    "drop what no replay and no audit needs of old calls",
    "Drop payloads, evidence and attestation transactions of calls at rest that are older than some days. Bundles, receipts",
    "and payment keys stay. Stop the service first, or let it prune by RETENTION_DAYS; --dry-run may run beside it.",
    "  attestd prune --days 365 --dry-run --env /etc/attestd/env",
  )
    .requiredOption("--days <n>", "older than this", wholeDays)
    .option("--dry-run", "count them, and write nothing")
    .action(runs(running, async () => (await import("../commands/journal.ts")).prune));

  operatorCommand(
    program,
    "backfill",
    "collect the evidence that a service has missed",
    "Collect the evidence of a journal's attestations that is not whole: after an outage, from a node that keeps old blocks. On",
    "SQLite stop the service first. What is collected stays, and the command may be repeated.",
    "  attestd backfill --algod https://archive.example --env /etc/attestd/env",
  )
    .option("--algod <url>", "a node to ask before those of the settings", nodeUrl)
    .option("--algod-token-file <file>", "its token")
    .action(runs(running, async () => (await import("../commands/journal.ts")).backfill));

  operatorCommand(
    program,
    "refund",
    "record that a payment was paid back",
    "Record that you paid a payment back, for a call that has been owed for a day and can no longer be attested.",
    "  attestd refund PAYMENT_KEY --transaction TXID --env /etc/attestd/env",
  )
    .argument("<payment key>", "of the call, as the audit and the log print it")
    .requiredOption("--transaction <id>", "the transfer to the payer, on the payment's chain")
    .action(runs(running, async () => (await import("../commands/journal.ts")).refund));
}
