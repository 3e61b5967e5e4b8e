import { Argument, type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { subcommand } from "./help.ts";
import { askChain, askedService, ledgerId, oneMoreKid, serviceUrl, trustedKeyHistory } from "./options.ts";

const CHAINS = ["algorand", "base"];

/** Commands that pay. */
export function addBuying(program: Command, { environment, finish }: Running): void {
  const purchase = (name: string, summary: string, ...description: string[]) =>
    subcommand(program, name, summary, ...description)
      .option("--service <url>", "the service (default: the sandbox in ./.attestd)", serviceUrl)
      .option("--wallet <file>", "the payer's keys (default: the sandbox's)")
      .addOption(trustedKeyHistory())
      .option("--max-price <usdc>", "ask before paying more; without a terminal, refuse", "0.01")
      .option("--out <file>", "where to save the bundle (default: named after its subject and round)")
      .option("--json", "print the report as JSON");

  purchase(
    "attest",
    "buy an attestation",
    "Buy an attestation of a confirmed transaction, check it and save it. If interrupted, run the same command again.",
    "  attestd attest 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
    "  attestd attest TXID --service https://attestd.example --wallet wallet.json --keys keys.json",
  )
    .argument("<txid>", "Algorand transaction id, or Base transaction hash")
    .addOption(new Option("--chain <name>", "the chain of <txid> (default: recognized from its form)").choices(CHAINS))
    .action(async (txid, options) => {
      const { attest } = await import("../commands/purchase.ts");
      finish(await attest(txid, options, environment));
    });

  purchase(
    "attest-block",
    "buy the attestation of a block",
    "Buy an attestation of a block, check it and save it. If interrupted, run the same command again.",
    "  attestd attest-block base 46000000",
    "  attestd attest-block algorand 46581204 --service https://attestd.example --wallet wallet.json",
  )
    .addArgument(new Argument("<chain>", "algorand or base").choices(CHAINS))
    .argument("<height>", "round of Algorand, block number of Base")
    .action(async (chain, height, options) => {
      const { attestBlock } = await import("../commands/purchase.ts");
      finish(await attestBlock(chain, height, options, environment));
    });

  purchase(
    "prove",
    "buy a proof that a transaction is in a block",
    "Buy a proof that a transaction is in a block, check it and save it. If interrupted, run the same command again.",
    "  attestd prove 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 46000000",
  )
    .argument("<txid>", "Algorand transaction id, or Base transaction hash")
    .argument("<height>", "round or number of the block that contains it")
    .action(async (txid, height, options) => {
      const { prove } = await import("../commands/purchase.ts");
      finish(await prove(txid, height, options, environment));
    });
}

/** Commands that check bundles. */
export function addChecking(program: Command, { environment, finish }: Running): void {
  subcommand(
    program,
    "verify",
    "check bundles",
    "Check bundles. Offline; free.",
    "  cat b.json | attestd verify -",
    "  attestd verify proofs/*.json --json | jq .verified",
    "  attestd verify b.json --chain    also ask the ledger",
  )
    .argument("<files...>", "bundles, or certificates that contain one; - is standard input")
    .addOption(trustedKeyHistory())
    .addOption(
      new Option("--kid <kid>", "id of a key that you trust; may be repeated").argParser(oneMoreKid).conflicts("keys"),
    )
    .addOption(
      new Option("--ledger <caip2>", "ledger of those keys (default: Algorand MainNet)")
        .argParser(ledgerId)
        .conflicts("keys"),
    )
    .addOption(askChain())
    .addOption(askedService())
    .option("--json", "print one report a line as JSON")
    .action(async (files, options) => {
      const { verify } = await import("../commands/verify.ts");
      finish(await verify(files, options, environment));
    });

  subcommand(
    program,
    "certificate",
    "make a certificate to print",
    "Make a certificate of a verified bundle: one sheet with a QR code for its verification. The file also contains the",
    "bundle, and is verified like it.",
    "  attestd certificate b.json",
    "  attestd certificate b.json --chain --out b.svg --paper letter",
  )
    .argument("<file>", "bundle or certificate; - is standard input")
    .option("-o, --out <file>", "a .pdf or an .svg (default: the bundle's name with .pdf)")
    .addOption(new Option("--paper <size>", "size of the sheet").choices(["a4", "letter"]).default("a4"))
    .addOption(trustedKeyHistory())
    .addOption(askChain())
    .addOption(askedService())
    .action(async (file, options) => {
      const { certificate } = await import("../commands/certificate.ts");
      finish(await certificate(file, options, environment));
    });
}
