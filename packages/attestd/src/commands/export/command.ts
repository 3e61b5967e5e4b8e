import { command, flag, operand, value } from "../../command.ts";
import { force, trustOptions } from "../../options.ts";

export const exportTable = command({
  name: "export",
  summary: "write what bundles prove as a table, for accountants",
  help: [
    "Check bundles and receipts, and write what they prove as a table in CSV: verdict, transaction, block, time, outcome,",
    "parties, amount, record, payment. A file that is not verified gets a row with its verdict alone.",
    "  attestd export proofs/ --out table.csv",
    "  attestd export proofs/*.json --json | jq .amount",
  ],
  operands: [operand("<files...>", "files, folders or URLs of bundles, certificates or receipts; - is standard input")],
  options: {
    json: flag("write one JSON object a line instead of CSV"),
    out: value("<file>", "where to save it (default: standard output)"),
    force,
    ...trustOptions,
  },
  run: async (...given) => (await import("./run.ts")).exportFiles(...given),
});
