import { type CheckpointTable, checkpointIndex, hasCheckpoint, proveCheckpoint } from "./checkpoints.ts";
import { type Evidence, type EvidenceItem, itemOf } from "./form.ts";

/**
 * Adds the paths from the checkpoints of evidence to the root of a table, for verifiers that trust the root.
 * @returns `other` if the table has another checkpoint for one of the rounds, so that one of the two is wrong; `absent`
 *   if it has none for the attestation's round, or the evidence has no state proof
 */
export function onTable(evidence: Evidence, table: CheckpointTable): Evidence | "other" | "absent" {
  const found = itemOf(evidence, "algorand-state-proof/1");
  if (found === undefined || checkpointIndex(table, found.item.checkpoint.round) === undefined) return "absent";
  const items: EvidenceItem[] = [];
  for (const item of evidence.items) {
    const index = "checkpoint" in item ? checkpointIndex(table, item.checkpoint.round) : undefined;
    if (!("checkpoint" in item) || index === undefined) items.push(item);
    else if (!hasCheckpoint(table, item.checkpoint)) return "other";
    else items.push({ ...item, path: proveCheckpoint(table, index) });
  }
  return { ...evidence, items };
}
