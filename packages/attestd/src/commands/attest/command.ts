import { choice, command, flag, operand, operandOf, value, withDefault } from "../../command.ts";
import { keys, serviceUrl, wait, wholeNumber } from "../../options.ts";

const txid = "Algorand transaction id, or Base transaction hash";

/** Options of every command that pays. */
const purchaseOptions = {
  service: value("<url>", "the service (default: the sandbox that runs in ./.attestd)", serviceUrl),
  wallet: value("<file>", "the payer's keys, in the form of docs/command-line.md (default: the sandbox's)"),
  keys,
  maxPrice: withDefault(value("<usdc>", "ask before signing for more in all; without a terminal, refuse"), "0.01"),
  wait: wait("wait until it is known and final, then buy"),
  out: value("<file>", "where to save the bundle (default: named after its subject and round)"),
  evidence: flag("wait until stake has signed for the record, and save the evidence of that beside the bundle"),
  json: flag("print the report as JSON"),
};

export const attest = command({
  name: "attest",
  summary: "buy an attestation",
  help: [
    "Buy an attestation of a confirmed transaction, check it and save it. If interrupted, run the same command again.",
    "  attestd attest 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
    "  attestd attest TXID --wait              of a transaction that was sent just now",
    "  attestd attest TXID --evidence          and wait for what shows the record without us and without a node",
    "  attestd attest --file list.txt          of many, for few payments, into the folder list-attested",
    "  attestd attest --file list.csv --column hash --max-price 5",
    "  attestd attest TXID --service https://attestd.example --wallet wallet.json --keys keys.json",
  ],
  operands: [operand("[txid]", txid)],
  options: {
    ...purchaseOptions,
    require: choice("<outcome>", "buy only if the transaction ended so", ["succeeded"]),
    file: value("<list>", "instead of <txid>, a list of ids: one a line; - is standard input"),
    column: value("<name>", "with --file: the list is CSV, and this column has the ids"),
    batchSize: value(
      "<n>",
      "with --file: most transactions of a payment",
      wholeNumber("a whole number from 1 to 1000", 1, 1000),
    ),
  },
  async run(id, options, environment) {
    const { requireList, requireOne } = await import("./list-arguments.ts");
    if (options.file === undefined) {
      const { buyAttestation } = await import("./purchase.ts");
      return buyAttestation(requireOne(id, options), options, environment);
    }
    const { attestList } = await import("./list.ts");
    return attestList(requireList(id, options), environment);
  },
});

export const attestBlock = command({
  name: "attest-block",
  summary: "buy the attestation of a block",
  help: [
    "Buy an attestation of a block, check it and save it. If interrupted, run the same command again.",
    "  attestd attest-block base 46000000",
    "  attestd attest-block algorand 46581204 --service https://attestd.example --wallet wallet.json",
  ],
  operands: [
    operandOf("<chain>", "algorand or base", ["algorand", "base"]),
    operand("<height>", "round of Algorand, block number of Base"),
  ],
  options: purchaseOptions,
  run: async (...given) => (await import("./purchase.ts")).buyBlockAttestation(...given),
});

export const prove = command({
  name: "prove",
  summary: "buy a proof that a transaction is in a block",
  help: [
    "Buy a proof that a transaction is in a block, check it and save it. If interrupted, run the same command again.",
    "  attestd prove 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 46000000",
  ],
  operands: [operand("<txid>", txid), operand("<height>", "round or number of the block that contains it")],
  options: purchaseOptions,
  run: async (...given) => (await import("./purchase.ts")).buyInclusionProof(...given),
});
