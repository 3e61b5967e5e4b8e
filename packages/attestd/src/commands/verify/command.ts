import { command, flag, operand, value, values } from "../../command.ts";
import { trustOptions } from "../../options.ts";

export const verify = command({
  name: "verify",
  summary: "check bundles",
  help: [
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
    "  attestd verify b.json --evidence e.json --checkpoint c.json      offline, by the stake that signed for its round",
  ],
  operands: [operand("<files...>", "files, folders or URLs of bundles, certificates or receipts; - is standard input")],
  options: {
    json: flag("print one report a line as JSON"),
    evidence: value("<file>", "the evidence of one bundle (default: b.evidence.json beside b.json)"),
    checkpoint: values(
      "<name>",
      "what you trust of the ledger's stake: the file of a checkpoint, of your own table or of what a service publishes, the root of a table (64 hex digits), or the name of a checkpoint that comes with attestd; may be repeated",
      String,
    ),
    stateProofs: value("<dir>", "a folder of state proofs that evidence names and does not contain"),
    ...trustOptions,
  },
  run: async (...given) => (await import("./run.ts")).verifyFiles(...given),
});
