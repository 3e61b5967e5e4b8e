import { Argument, type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { lines } from "./help.ts";
import { serviceUrl } from "./values.ts";

/** Commands that pay. */
export function addBuying(program: Command, { environment, finish }: Running): void {
  /** A command that buys, with the options that all of them have. */
  const purchase = (name: string) =>
    program
      .command(name)
      .option("--service <url>", "the service (default: the sandbox in ./.attestd)", serviceUrl)
      .option("--wallet <file>", "the payer's keys (default: the sandbox's)")
      .option("--keys <file>", "key history of the attestor that is believed (default: the sandbox's)")
      .option("--max-price <usdc>", "ask before paying more, or without a terminal refuse", "0.01")
      .option("--out <file>", "where to save the bundle (default: after what it is of, and its round)")
      .option("--json", "print the report as JSON");

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
      const { attest } = await import("../commands/buy.ts");
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
      const { attestBlock } = await import("../commands/buy.ts");
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
      const { prove } = await import("../commands/buy.ts");
      finish(await prove(txid, height, options, environment));
    });
}
