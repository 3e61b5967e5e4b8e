import { choice, command, operand, operandOf, value } from "../../command.ts";
import { purchaseOptions, wholeNumber } from "../../options.ts";

const txid = "Algorand transaction id, or Base transaction hash";
const height = wholeNumber("the height of a block, a whole number", 0, Number.MAX_SAFE_INTEGER);

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
    const { file, ...others } = options;
    if (file === undefined)
      return (await import("./purchase.ts")).buyAttestation(requireOne(id, options), options, environment);
    requireList(id, options);
    return (await import("./list.ts")).attestList({ file, ...others }, environment);
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
    operand("<height>", "round of Algorand, block number of Base", height),
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
  operands: [operand("<txid>", txid), operand("<height>", "round or number of the block that contains it", height)],
  options: purchaseOptions,
  run: async (...given) => (await import("./purchase.ts")).buyInclusionProof(...given),
});
