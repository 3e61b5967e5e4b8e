import { Argument, Command, CommanderError, type Help, Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import type { Environment } from "./environment.ts";
import { EXIT, Failure } from "./failure.ts";
import { terminal } from "./terminal.ts";

/**
 * Runs one command line. Each command's module, and with it its libraries, is loaded only when that command runs:
 * checking a bundle loads no chain library.
 *
 * @param args what stands after `attestd`
 * @returns the exit code
 */
export async function run(args: readonly string[], environment: Environment): Promise<number> {
  let exitCode: number = EXIT.good;
  const program = commandLine(environment, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has told its own errors; help and the version end so too, with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.usage;
    if (!(error instanceof Failure)) throw error;
    const err = terminal(process.stderr, environment.unicode);
    err.line(`attestd: ${error.message}`);
    for (const line of error.more) err.line(`  ${line}`);
    return error.exitCode;
  }
}

function commandLine(environment: Environment, finish: (exitCode: number) => void): Command {
  const program = new Command("attestd")
    .description("Attestations of Algorand and Base transactions, paid by x402, signed with ML-DSA-65.")
    .version(packageJson.version)
    .exitOverride()
    .configureHelp({ formatHelp: describeFirst })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "attestd: ")) });

  /** A command that buys: all of them pay, check and save alike. */
  const purchase = (name: string) =>
    program
      .command(name)
      .option("--service <url>", "the service (default: the sandbox in ./.attestd)")
      .option("--wallet <file>", "the payer's keys (default: the sandbox's)")
      .option("--keys <file>", "key history of the attestor that is believed (default: the sandbox's)")
      .option("--max-price <usdc>", "ask before paying more, or without a terminal refuse", "0.01")
      .option("--out <file>", "where to save the bundle (default: after what it is of, and its round)")
      .option("--json", "print the report as JSON");

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
      const { sandbox } = await import("./commands/sandbox.ts");
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
    .option("--env <file>", "settings, NAME=value a line")
    .option("--sandbox", "allow a ledger other than MainNet; settings from ./.attestd where a sandbox stands")
    .action(async (options) => {
      const { serve } = await import("./commands/serve.ts");
      finish(await serve(options, environment));
    });

  purchase("attest")
    .summary("buy an attestation")
    .description(
      lines(
        "Buy an attestation of a confirmed transaction, check it and save it. Interrupted, the same command goes on.",
        "  attestd attest 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
        "  attestd attest TXID --service https://attestd.example --wallet wallet.json --keys keys.json",
      ),
    )
    .argument("<txid>", "Algorand transaction id, or Base transaction hash")
    .addOption(
      new Option("--chain <name>", "the chain of <txid> (default: told from it)").choices(["algorand", "base"]),
    )
    .action(async (txid, options) => {
      const { attest } = await import("./commands/attest.ts");
      finish(await attest(txid, options, environment));
    });

  purchase("attest-block")
    .summary("buy the attestation of a block")
    .description(
      lines(
        "Buy an attestation of a block, check it and save it. Interrupted, the same command goes on.",
        "  attestd attest-block base 46000000",
        "  attestd attest-block algorand 46581204 --service https://attestd.example --wallet wallet.json",
      ),
    )
    .addArgument(new Argument("<chain>", "algorand or base").choices(["algorand", "base"]))
    .argument("<height>", "round of Algorand, block number of Base")
    .action(async (chain, height, options) => {
      const { attestBlock } = await import("./commands/attest-block.ts");
      finish(await attestBlock(chain, height, options, environment));
    });

  purchase("prove")
    .summary("buy a proof that a transaction is in a block")
    .description(
      lines(
        "Buy a proof that a transaction is in a block, check it and save it. Interrupted, the same command goes on.",
        "  attestd prove 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 46000000",
      ),
    )
    .argument("<txid>", "Algorand transaction id, or Base transaction hash")
    .argument("<height>", "of the block that holds it")
    .action(async (txid, height, options) => {
      const { prove } = await import("./commands/prove.ts");
      finish(await prove(txid, height, options, environment));
    });

  program
    .command("verify")
    .summary("check bundles")
    .description(
      lines(
        "Check bundles. Offline; free.",
        "  cat b.json | attestd verify -",
        "  attestd verify proofs/*.json --json | jq .verified",
        "  attestd verify b.json --chain    also ask the ledger",
      ),
    )
    .argument("<files...>", "bundles, or certificates that carry one; - is standard input")
    .option("--keys <file>", "key history of the attestor that is believed (default: the sandbox's in ./.attestd)")
    .addOption(
      new Option("--kid <kid>", "id of a key that is believed; may be repeated")
        .argParser((kid, kids: string[] = []) => [...kids, kid])
        .conflicts("keys"),
    )
    .addOption(new Option("--ledger <caip2>", "ledger of those keys (default: Algorand MainNet)").conflicts("keys"))
    .option("--chain", "also ask a service to compare with the source chain and the ledger")
    .option("--service <url>", "the service to ask (default: the sandbox's)")
    .option("--json", "print one report a line as JSON")
    .action(async (files, options) => {
      const { verify } = await import("./commands/verify.ts");
      finish(await verify(files, options, environment));
    });

  program
    .command("certificate")
    .summary("make a certificate to print")
    .description(
      lines(
        "Make a certificate of a verified bundle: one sheet, with a code that leads back to verification, and the bundle",
        "inside the file, so that it can be verified like the bundle.",
        "  attestd certificate b.json",
        "  attestd certificate b.json --chain --out b.svg --paper letter",
      ),
    )
    .argument("<file>", "bundle or certificate; - is standard input")
    .option("-o, --out <file>", "a .pdf or an .svg (default: the bundle's name with .pdf)")
    .addOption(new Option("--paper <size>", "size of the sheet").choices(["a4", "letter"]).default("a4"))
    .option("--keys <file>", "key history of the attestor that is believed (default: the sandbox's in ./.attestd)")
    .option("--chain", "also ask a service to compare with the source chain and the ledger")
    .option("--service <url>", "the service to ask (default: the sandbox's)")
    .action(async (file, options) => {
      const { certificate } = await import("./commands/certificate.ts");
      finish(await certificate(file, options, environment));
    });

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
      const { keygen } = await import("./commands/keygen.ts");
      finish(await keygen(options, environment));
    });

  const keys = program
    .command("keys")
    .summary("the keys of an attestor over time: history, rotate, revoke")
    .description("The keys of an attestor over time.");

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
    .option("--service <url>", "the service that gives it (default: the sandbox's)")
    .addOption(new Option("--keys <file>", "a file that holds it").conflicts("service"))
    .addOption(new Option("--env <file>", "settings of your own service").conflicts(["service", "keys"]))
    .addOption(
      new Option("--sandbox", "your own service's ledger may be another than MainNet").conflicts(["service", "keys"]),
    )
    .option("--indexer <url>", "also hold it against the notes on the ledger, by the word of this indexer")
    .option("--save <file>", "keep it there; an earlier copy that stands there must be continued by it")
    .option("--json", "print the history as JSON, as --keys takes it")
    .action(async (options) => {
      const { keysHistory } = await import("./commands/keys-history.ts");
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
    .option("--env <file>", "the service's settings, NAME=value a line")
    .option("--sandbox", "allow a ledger other than MainNet; settings from ./.attestd where a sandbox stands")
    .option("--json", "print what was made as JSON")
    .action(async (options) => {
      const { keysRotate } = await import("./commands/keys-change.ts");
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
    .option("--env <file>", "the service's settings, NAME=value a line")
    .option("--sandbox", "allow a ledger other than MainNet; settings from ./.attestd where a sandbox stands")
    .option("--json", "print what was revoked as JSON")
    .action(async (kid, options) => {
      const { keysRevoke } = await import("./commands/keys-change.ts");
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
    .option("--env <file>", "the service's settings, NAME=value a line")
    .option("--sandbox", "allow a ledger other than MainNet; settings from ./.attestd where a sandbox stands")
    .option("--json", "print the history as JSON")
    .action(async (file, options) => {
      const { keysRestore } = await import("./commands/keys-change.ts");
      finish(await keysRestore(file, options, environment));
    });

  program
    .command("audit")
    .summary("hold the journal against the ledger and the rails")
    .description(
      lines(
        "Hold the journal against the ledger and the rails, and say what does not fit. Nothing is written.",
        "  attestd audit --env /etc/attestd.env",
        "  attestd audit --env /etc/attestd.env --since 2026-11-20 --json | jq .findings",
        "",
        "Bind a payment that the journal has lost to what it was for; the payer's replay then gets its bundle.",
        "  attestd audit --env /etc/attestd.env --adopt PAYMENT --txid TXID",
      ),
    )
    .option("--env <file>", "the service's settings, NAME=value a line")
    .option("--sandbox", "allow a ledger other than MainNet; settings from ./.attestd where a sandbox stands")
    .option("--since <time>", "read the chains from then on (default: from the attestor's beginning)")
    .option("--adopt <payment>", "payment key, or transaction id of the payment")
    .option("--txid <txid>", "with --adopt: the transaction that the payment was for")
    .addOption(new Option("--chain <name>", "with --adopt: its chain").choices(["algorand", "base"]))
    .option("--height <n>", "with --adopt and --chain: the block that the payment was for, or the block of --txid")
    .option("--json", "print the report as JSON")
    .action(async (options) => {
      const { audit } = await import("./commands/audit.ts");
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
    .option("--env <file>", "the service's settings, NAME=value a line")
    .option("--sandbox", "allow a ledger other than MainNet; settings from ./.attestd where a sandbox stands")
    .option("--json", "print what was recorded as JSON")
    .action(async (key, options) => {
      const { refund } = await import("./commands/refund.ts");
      finish(await refund(key, options, environment));
    });
  return program;
}

/** What it is for and how it is used come first; the grammar after. */
function describeFirst(command: Command, help: Help): string {
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
    "",
  );
}

function lines(...text: string[]): string {
  return text.join("\n");
}
