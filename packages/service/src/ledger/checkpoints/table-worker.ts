import {
  type CheckpointTable,
  checkpointAt,
  checkpointCount,
  checkpointTableHead,
  decodeCheckpointTable,
  type Evidence,
  firstCheckpoints,
  MAX_CHECKPOINT_TABLE_BYTES,
  onTable,
  type PublishedCheckpoints,
} from "@attestd/proof/evidence";
import { readRegularFile } from "../../lib/regular-file.ts";
import { answerJobs } from "../../lib/workers/worker.ts";

/** The number of checkpoints that are published with a table's head. */
const LAST = 16;

let table: CheckpointTable | undefined;

/** Reads a table's file and keeps it. @throws ProofError `json`, `format` or `malformed` */
function load(path: string): PublishedCheckpoints {
  const read = decodeCheckpointTable(readRegularFile(path, { maxBytes: MAX_CHECKPOINT_TABLE_BYTES }).bytes);
  const size = checkpointCount(read);
  const last = Array.from({ length: Math.min(LAST, size) }, (_, place, from = size - Math.min(LAST, size)) => {
    return checkpointAt(read, from + place);
  });
  table = read;
  return { ...checkpointTableHead(read), last };
}

/**
 * Adds the path to the root of the first `size` checkpoints to evidence; undefined if its checkpoint is not among them.
 */
function rest(evidence: Evidence, size: number): Evidence | undefined {
  if (table === undefined || size < 1 || size > checkpointCount(table)) return undefined;
  const rested = onTable(evidence, firstCheckpoints(table, size));
  return typeof rested === "string" ? undefined : rested;
}

const JOBS: Readonly<Record<string, (...args: never[]) => unknown>> = { load, rest };
answerJobs((name, args) => (JOBS[name] as (...args: readonly unknown[]) => unknown)(...args));
