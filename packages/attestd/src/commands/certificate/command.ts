import { choice, command, flag, operand, value, withDefault } from "../../command.ts";
import { chainOptions, force, keys } from "../../options.ts";

export const certificate = command({
  name: "certificate",
  summary: "make certificates to print",
  help: [
    "Make a certificate of each verified bundle, with a QR code for its verification. The file also contains the bundle, and",
    "is verified like it.",
    "  attestd certificate b.json",
    "  attestd certificate b.json --chain --out b.svg --paper letter",
    "  attestd certificate proofs/*.json --out certificates/",
    "  attestd certificate answer.json --whole     one of the whole batch, with a table of its items",
  ],
  operands: [operand("<files...>", "files, folders or URLs of bundles or certificates; - is standard input")],
  options: {
    out: value("<file>", "a .pdf or an .svg, or a folder (default: the bundle's name with .pdf)"),
    evidence: value("<file>", "evidence to include (default: b.evidence.json beside b.json)"),
    whole: flag("one certificate of each whole batch, with a table, instead of one for each item"),
    force,
    paper: withDefault(choice("<size>", "size of the sheet", ["a4", "letter"]), "a4"),
    keys,
    ...chainOptions,
  },
  run: async (...given) => (await import("./run.ts")).makeCertificates(...given),
});
