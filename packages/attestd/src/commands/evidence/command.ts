import { command, conflicting, operand, value } from "../../command.ts";
import { force, json, nodeUrl, serviceUrl, tokenFile, wait } from "../../options.ts";

export const evidence = command({
  name: "evidence",
  summary: "collect what shows that the ledger recorded a bundle",
  help: [
    "Collect from a node of the ledger what shows, offline and years later, that it recorded a bundle's attestation: the block,",
    "and the state proof in which the stake has signed for it. Nodes keep this for some 45 minutes, archival ones for ever.",
    "  attestd evidence b.json --wait --save-checkpoint c.json                    in a sandbox",
    "  attestd evidence b.json --algod http://localhost:4001 --wait --save-checkpoint c.json",
    "  attestd evidence b.json --service https://attestd.example --wait",
    "  attestd verify b.json --keys keys.json --evidence b.evidence.json --checkpoint c.json",
  ],
  operands: [operand("<file>", "a bundle or a certificate; - is standard input")],
  options: {
    algod: value("<url>", "your own Algorand node (default: the sandbox's)", nodeUrl),
    algodTokenFile: tokenFile,
    service: conflicting(value("<url>", "fetch it from the service that delivered the bundle", serviceUrl), "algod"),
    wait: wait("wait for the state proof"),
    out: value("<file>", "where to save it (default: b.evidence.json for b.json)"),
    table: value("<file>", "your own table of checkpoints: the evidence rests on it, with the path to its root"),
    stateProofs: value("<dir>", "save the state proof there by its hash, once for all bundles that share it"),
    saveCheckpoint: value("<file>", "save the checkpoint that the node names, to trust it later"),
    force,
    json,
  },
  run: async (...given) => (await import("./run.ts")).collectEvidence(...given),
});
