import { type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { lines } from "./help.ts";
import { askChain, askedService, believedKeys } from "./options.ts";
import { ledgerId, oneMoreKid } from "./values.ts";

/** Commands that check bundles. */
export function addChecking(program: Command, { environment, finish }: Running): void {
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
    .addOption(believedKeys())
    .addOption(
      new Option("--kid <kid>", "id of a key that is believed; may be repeated")
        .argParser(oneMoreKid)
        .conflicts("keys"),
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
    .addOption(believedKeys())
    .addOption(askChain())
    .addOption(askedService())
    .action(async (file, options) => {
      const { certificate } = await import("../commands/certificate.ts");
      finish(await certificate(file, options, environment));
    });
}
