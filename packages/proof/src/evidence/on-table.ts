import { type CheckpointTable, checkpointIndex, hasCheckpoint, proveCheckpoint } from "./checkpoints.ts";
import { type Evidence, type EvidenceItem, itemOf } from "./form.ts";

/**
 * Evidence with the paths from its checkpoints to the root of a table, for those who trust the root.
 *
 * @returns `other` where the table has another checkpoint of such a round: one of the two is wrong; `absent` where it has none
 *   of the attestation's, or the evidence has no state proof
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
