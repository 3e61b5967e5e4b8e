import { itemOf, parseEvidence, readPublishedCheckpoints } from "@attestd/proof/evidence";
import type { JsonValue } from "@attestd/proof/json";
import { type Checkpoint, readCheckpoint } from "@attestd/proof/state-proof";
import type { Inspection } from "./rows.ts";

/** Explains the evidence of a bundle. @throws ProofError */
export function inspectEvidence(bytes: Uint8Array): Inspection {
  const evidence = parseEvidence(bytes);
  const proof = itemOf(evidence, "algorand-state-proof/1")?.item;
  const rows: Inspection["rows"] = [
    ["bundle", evidence.bundle],
    ["items", evidence.items.map(({ type }) => type).join(", ") || "none"],
  ];
  if (proof) {
    const { message, stateProofSha256, stateProofBase64, checkpoint, path } = proof;
    rows.push(["state proof", `of rounds ${message.firstAttestedRound} to ${message.lastAttestedRound}`]);
    rows.push(["  its SHA-256", `${stateProofSha256}${stateProofBase64 === undefined ? ", kept elsewhere" : ""}`]);
    rows.push(["checkpoint", `of round ${checkpoint.round}`]);
    if (path) rows.push(["  its place", `${path.index} in a table of ${path.size}`]);
  }
  const source = itemOf(evidence, "algorand-source-state-proof/1")?.item;
  if (source) {
    const { firstAttestedRound, lastAttestedRound } = source.message;
    rows.push(["source", `a state proof of rounds ${firstAttestedRound} to ${lastAttestedRound}`]);
  }
  const authorisation = itemOf(evidence, "algorand-authorisation/1")?.item;
  if (authorisation) {
    rows.push(["signed by", `a key of ${authorisation.alg}`]);
    if (authorisation.authorizer) rows.push(["  rekeyed to", authorisation.authorizer]);
  }
  const remarks = ["`attestd verify b.json --evidence` checks it together with its bundle."];
  return { kind: "evidence", title: "Evidence of a bundle", rows, remarks, value: evidence };
}

/** Explains a checkpoint, or a table of checkpoints as a service publishes it. @throws ProofError */
export function inspectCheckpoint(value: JsonValue): Inspection {
  const isTable = typeof value === "object" && value !== null && Object.hasOwn(value, "format");
  const rows = (one: Checkpoint): Inspection["rows"] => [
    ["round", `${one.round}`],
    ["genesis", one.genesisHash],
    ["voters", one.votersCommitment],
    ["ln of weight", `${one.lnProvenWeight}`],
  ];
  const remarks = ["Only a walk, a node or its maker can say whether it is one of Algorand's."];
  if (!isTable) {
    const checkpoint = readCheckpoint(value, "");
    return {
      kind: "checkpoint",
      title: "Checkpoint of state proofs",
      rows: rows(checkpoint),
      remarks,
      value: checkpoint,
    };
  }
  const { last, ...head } = readPublishedCheckpoints(value, "");
  const newest = last.at(-1);
  return {
    kind: "checkpoints",
    title: "Table of checkpoints, as a service publishes it",
    rows: [["size", `${head.size}`], ["root", head.root], ...(newest ? rows(newest) : [])],
    remarks,
    value: { ...head, last },
  };
}
