import { type CheckpointTable, checkpointIndex, hasCheckpoint, proveCheckpoint } from "./checkpoints.ts";
import { type Evidence, itemOf } from "./form.ts";

/**
 * Evidence with the path from its checkpoint to the root of a table, for those who trust the root.
 *
 * @returns `other` where the table has another checkpoint of that round: one of the two is wrong; `absent` where it has none,
 *   or the evidence has no state proof
 */
export function onTable(evidence: Evidence, table: CheckpointTable): Evidence | "other" | "absent" {
  const found = itemOf(evidence, "algorand-state-proof/1");
  const index = found && checkpointIndex(table, found.item.checkpoint.round);
  if (found === undefined || index === undefined) return "absent";
  if (!hasCheckpoint(table, found.item.checkpoint)) return "other";
  const item = { ...found.item, path: proveCheckpoint(table, index) };
  return { ...evidence, items: evidence.items.map((one) => (one === found.item ? item : one)) };
}
