import { Argument, type Command, Option } from "commander";
import type { Running } from "../environment.ts";
import { runs } from "./action.ts";
import { subcommand } from "./help.ts";
import {
  addChainOptions,
  addTrustOptions,
  batchSize,
  DEFAULT_WAIT,
  nodeUrl,
  oneMore,
  oneMoreKid,
  oneMoreRoot,
  serviceUrl,
  trustedKeyHistory,
  waitSeconds,
} from "./options.ts";

const CHAINS = ["algorand", "base"];

/** Commands that pay. */
export function addBuying(program: Command, running: Running): void {
  const purchase = (name: string, summary: string, ...description: string[]) =>
    subcommand(program, name, summary, ...description)
      .option("--service <url>", "the service (default: the sandbox that runs in ./.attestd)", serviceUrl)
      .option("--wallet <file>", "the payer's keys, in the form of docs/command-line.md (default: the sandbox's)")
      .addOption(trustedKeyHistory())
      .option("--max-price <usdc>", "ask before signing for more in all; without a terminal, refuse", "0.01")
      .option(
        "--wait [seconds]",
        `wait until it is known and final, then buy (default: ${DEFAULT_WAIT} s)`,
        waitSeconds,
      )
      .option("--out <file>", "where to save the bundle (default: named after its subject and round)")
      .option(
        "--evidence",
        "wait until stake has signed for the record, and save the evidence of that beside the bundle",
      )
      .option("--json", "print the report as JSON");

  purchase(
    "attest",
    "buy an attestation",
    "Buy an attestation of a confirmed transaction, check it and save it. If interrupted, run the same command again.",
    "  attestd attest 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
    "  attestd attest TXID --wait              of a transaction that was sent just now",
    "  attestd attest TXID --evidence          and wait for what shows the record without us and without a node",
    "  attestd attest --file list.txt          of many, for few payments, into the folder list-attested",
    "  attestd attest --file list.csv --column hash --yes",
    "  attestd attest TXID --service https://attestd.example --wallet wallet.json --keys keys.json",
  )
    .argument("[txid]", "Algorand transaction id, or Base transaction hash")
    .addOption(new Option("--chain <name>", "the chain of <txid> (default: recognized from its form)").choices(CHAINS))
    .addOption(new Option("--require <outcome>", "buy only if the transaction ended so").choices(["succeeded"]))
    .option("--file <list>", "instead of <txid>, a list of them: one a line; - is standard input")
    .option("--column <name>", "with --file: the list is CSV, and this column has them")
    .option("--batch-size <n>", "with --file: most transactions of a payment", batchSize)
    .option("--yes", "with --file: pay also more than --max-price, without asking")
    .action(async (txid, options) => {
      const { checkListOptions } = await import("../commands/list-arguments.ts");
      if (checkListOptions(txid, options)) {
        const { attestList } = await import("../commands/attest-list.ts");
        return running.finish(await attestList(options, running.environment));
      }
      const { attest } = await import("../commands/purchase.ts");
      running.finish(await attest(txid, options, running.environment));
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
    .action(runs(running, async () => (await import("../commands/purchase.ts")).attestBlock));

  purchase(
    "prove",
    "buy a proof that a transaction is in a block",
    "Buy a proof that a transaction is in a block, check it and save it. If interrupted, run the same command again.",
    "  attestd prove 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 46000000",
  )
    .argument("<txid>", "Algorand transaction id, or Base transaction hash")
    .argument("<height>", "round or number of the block that contains it")
    .action(runs(running, async () => (await import("../commands/purchase.ts")).prove));
}

/** Commands that check bundles. */
export function addChecking(program: Command, running: Running): void {
  const verifying = subcommand(
    program,
    "verify",
    "check bundles",
    "Check bundles, certificates and receipts. Offline; free. A receipt beside a bundle is checked with it.",
    "  attestd keys history --service https://attestd.example --save keys.json     first, the keys to trust",
    "  attestd verify b.json --keys keys.json",
    "  attestd verify proofs/                      a folder, and all below it",
    "  attestd verify answer.json                  the answer of a batch: each bundle in it",
    "  attestd verify https://attestd.example/bundles/S",
    "  cat b.json | attestd verify -",
    "  attestd verify proofs/ --json | jq .verified",
    "  attestd verify b.json --chain --service https://attestd.example      also ask the ledger",
    "  attestd verify b.json --chain --algod http://localhost:4001 --base-rpc http://localhost:8545",
    "  attestd verify b.json --evidence e.json --checkpoint c.json      by the stake that signed for its round, offline",
  )
    .argument("<files...>", "files, folders or URLs of bundles, certificates or receipts; - is standard input")
    .option("--json", "print one report a line as JSON")
    .option("--evidence <file>", "the evidence of one bundle (default: b.evidence.json beside b.json)")
    .option(
      "--checkpoint <file>",
      "what you trust of the ledger's stake: a checkpoint, your own table, what a service publishes, or a shipped one's name; may be repeated",
      oneMore,
    )
    .option(
      "--checkpoint-root <hex>",
      "the root of a table of checkpoints that you trust; may be repeated",
      oneMoreRoot,
    )
    .option("--state-proofs <dir>", "a folder of state proofs that evidence names without holding them");
  addChainOptions(addTrustOptions(verifying)).action(
    runs(running, async () => (await import("../commands/verify.ts")).verify),
  );

  subcommand(
    program,
    "evidence",
    "collect what shows that the ledger recorded a bundle",
    "Collect from a node of the ledger what shows, offline and years later, that it recorded a bundle's attestation: the block,",
    "and the state proof in which the stake has signed for it. Nodes keep this for some 45 minutes, archival ones for ever.",
    "  attestd evidence b.json --wait --save-checkpoint c.json                    in a sandbox",
    "  attestd evidence b.json --algod http://localhost:4001 --wait --save-checkpoint c.json",
    "  attestd evidence b.json --service https://attestd.example --wait",
    "  attestd verify b.json --keys keys.json --evidence b.evidence.json --checkpoint c.json",
  )
    .argument("<file>", "a bundle or a certificate; - is standard input")
    .option("--algod <url>", "your own Algorand node (default: the sandbox's)", nodeUrl)
    .option("--algod-token-file <file>", "its token")
    .addOption(
      new Option("--service <url>", "fetch it from the service that delivered the bundle")
        .argParser(serviceUrl)
        .conflicts("algod"),
    )
    .option("--wait [seconds]", `wait for the state proof (default: ${DEFAULT_WAIT} s)`, waitSeconds)
    .option("-o, --out <file>", "where to save it (default: b.evidence.json for b.json)")
    .option("--table <file>", "your own table of checkpoints: the evidence rests on it, with the path to its root")
    .option("--state-proofs <dir>", "save the state proof there by its hash, once for all bundles that share it")
    .option("--save-checkpoint <file>", "save what it rests on, by the node's word, to trust it later")
    .option("--force", "replace files that are there already")
    .option("--json", "print the result as JSON")
    .action(runs(running, async () => (await import("../commands/evidence.ts")).evidence));

  subcommand(
    program,
    "inspect",
    "explain a file, without verifying it",
    "Explain what a file is, and what its parts say: a bundle, a certificate, a receipt, a key history, a payment header",
    "(PAYMENT-REQUIRED, PAYMENT-SIGNATURE or PAYMENT-RESPONSE, as base64 or JSON), or the note of an attestation.",
    "Nothing is verified: that is what `attestd verify` does.",
    "  attestd inspect b.json",
    "  attestd inspect https://attestd.example/.well-known/attestor-keys.json",
    '  printf %s "$PAYMENT_REQUIRED" | attestd inspect -',
  )
    .argument("<files...>", "files, folders or URLs; - is standard input")
    .option("--json", "print one explanation a line as JSON")
    .action(runs(running, async () => (await import("../commands/inspect.ts")).inspect));

  const exporting = subcommand(
    program,
    "export",
    "write what bundles prove as a table, for accountants",
    "Check bundles and receipts, and write what they prove as a table: verdict, transaction, block, time, outcome, parties,",
    "amount, record, payment. A file that is not verified has its verdict alone.",
    "  attestd export proofs/ --out table.csv",
    "  attestd export proofs/*.json --json | jq .amount",
  )
    .argument("<files...>", "files, folders or URLs of bundles, certificates or receipts; - is standard input")
    .addOption(new Option("--csv", "a CSV table, in UTF-8 (the default)").conflicts("json"))
    .option("--json", "one JSON object a line instead of CSV")
    .option("-o, --out <file>", "where to save it (default: standard output)")
    .option("--force", "replace the file if it is there already");
  addChainOptions(addTrustOptions(exporting)).action(
    runs(running, async () => (await import("../commands/export.ts")).exportTable),
  );

  const certifying = subcommand(
    program,
    "certificate",
    "make certificates to print",
    "Make a certificate of each verified bundle, with a QR code for its verification. The file also contains the bundle, and",
    "is verified like it.",
    "  attestd certificate b.json",
    "  attestd certificate b.json --chain --out b.svg --paper letter",
    "  attestd certificate proofs/*.json --out certificates/",
    "  attestd certificate answer.json --whole     one of the whole batch, with a table of its items",
  )
    .argument("<files...>", "files, folders or URLs of bundles or certificates; - is standard input")
    .option("-o, --out <file>", "a .pdf or an .svg, or a folder (default: the bundle's name with .pdf)")
    .option("--evidence <file>", "evidence to carry (default: b.evidence.json beside b.json)")
    .option("--whole", "one certificate of each whole batch, with a table, instead of one for each item")
    .option("--force", "replace files that are there already")
    .addOption(new Option("--paper <size>", "size of the sheet").choices(["a4", "letter"]).default("a4"));
  certifying
    .addOption(trustedKeyHistory())
    .option("--kid <kid>", "only of bundles signed by this key of the history; may be repeated", oneMoreKid);
  addChainOptions(certifying).action(
    runs(running, async () => (await import("../commands/certificate.ts")).certificate),
  );
}
