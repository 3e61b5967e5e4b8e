import { command, conflicting, group, operand, value } from "../../command.ts";
import { json, nodeUrl, tokenFile, wholeNumber } from "../../options.ts";

const count = wholeNumber("a whole number", 0, Number.MAX_SAFE_INTEGER);
const size = value("<n>", "only of its first n checkpoints: what it was before it grew (default: of all)", count);

const sync = command({
  name: "sync",
  summary: "walk to the newest checkpoint, verifying each state proof",
  help: [
    "Walk from a checkpoint to the newest, verify the state proof before each, and keep them in a table of 72 bytes each.",
    "What the node says is not believed. If interrupted, run the same command again: it goes on where it was.",
    "  attestd checkpoints sync table.checkpoints --algod http://localhost:4001 --from c.json",
    "  attestd checkpoints sync table.checkpoints --indexer https://indexer.example",
  ],
  operands: [operand("<table>", "the file of the table")],
  options: {
    algod: value("<url>", "an Algorand node: an archival one for old rounds", nodeUrl),
    algodTokenFile: tokenFile,
    indexer: conflicting(value("<url>", "or an indexer", nodeUrl), "algod"),
    indexerTokenFile: tokenFile,
    from: value(
      "<checkpoint>",
      "for a new table: a checkpoint that you trust, another table, or a name that `show` lists",
    ),
    to: value("<round>", "end at the checkpoint of this round (default: the newest)", count),
    json,
  },
  run: async (...given) => (await import("./run.ts")).syncTable(...given),
});

const show = command({
  name: "show",
  summary: "print a table's size, rounds and root",
  help: [
    "Print a table's size, rounds and root (RFC 6962); without a table, the checkpoints that come with attestd, and where",
    "each is from.",
    "  attestd checkpoints show table.checkpoints",
    "  attestd checkpoints show table.checkpoints --size 1000 --json | jq -r .root",
  ],
  operands: [operand("[table]", "the file of the table")],
  options: { size, json },
  run: async (...given) => (await import("./run.ts")).showTable(...given),
});

export const checkpoints = group({
  name: "checkpoints",
  summary: "tables of checkpoints, on which evidence rests: sync, show",
  help: [
    "Tables of Algorand's checkpoints, on which evidence rests.",
    "  attestd checkpoints sync table.checkpoints --algod http://localhost:4001 --from c.json",
    "  attestd help checkpoints sync",
  ],
  commands: [sync, show],
});
