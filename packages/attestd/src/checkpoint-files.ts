import { parseJson } from "@attestd/proof";
import {
  type AlgorandStateProofItem,
  type CheckpointTable,
  decodeCheckpointTable,
  type EvidenceOptions,
  hasCheckpoint,
  isCheckpointTable,
  MAX_CHECKPOINT_TABLE_BYTES,
  readPublishedCheckpoints,
  rootOfCheckpoint,
  SHIPPED_CHECKPOINTS,
  sameCheckpoint,
} from "@attestd/proof/evidence";
import { type Checkpoint, readCheckpoint } from "@attestd/proof/state-proof";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { readNamed } from "./files.ts";
import { fault } from "./keys-file.ts";

/**
 * What a user trusts of a ledger's stake: one checkpoint, a table that the user's own walk has made, the root that an operator
 * publishes, a root that the user knows, or a checkpoint that comes with attestd.
 */
export type CheckpointTrust = { name: string } & (
  | { basis: "checkpoint" | "release"; checkpoint: Checkpoint }
  | { basis: "table"; table: CheckpointTable }
  | { basis: "published" | "root"; root: string }
);

/** Reads what `--checkpoint` and `--checkpoint-root` name. @throws Failure `unreadable` */
export async function checkpointTrusts(files: readonly string[], roots: readonly string[]): Promise<CheckpointTrust[]> {
  const named = roots.map((root) => ({ basis: "root", name: root, root }) as const);
  return [...named, ...(await Promise.all(files.map(readTrust)))];
}

/** Reads a file of a checkpoint, of a table or of what a service publishes; or the name of one that is shipped. @throws Failure */
async function readTrust(name: string): Promise<CheckpointTrust> {
  const shipped = Object.hasOwn(SHIPPED_CHECKPOINTS, name) ? SHIPPED_CHECKPOINTS[name] : undefined;
  if (shipped) return { basis: "release", name, checkpoint: shipped.checkpoint };
  const bytes = await readBounded(name);
  try {
    if (isCheckpointTable(bytes)) return { basis: "table", name, table: decodeCheckpointTable(bytes) };
    const value = parseJson(bytes);
    const isPublished = typeof value === "object" && value !== null && Object.hasOwn(value, "last");
    if (isPublished) return { basis: "published", name, root: readPublishedCheckpoints(value, "").root };
    return { basis: "checkpoint", name, checkpoint: readCheckpoint(value, "") };
  } catch (error) {
    throw new Failure(EXIT.unreadable, `${name} is not a checkpoint, nor a table of them`, [fault(error)], error);
  }
}

/** A table's file. @throws Failure `unreadable` */
export async function readCheckpointTable(path: string): Promise<CheckpointTable> {
  const bytes = await readBounded(path);
  try {
    return decodeCheckpointTable(bytes);
  } catch (error) {
    throw new Failure(EXIT.unreadable, `${path} is not a table of checkpoints`, [fault(error)], error);
  }
}

/** What a walk begins from: the table, or one checkpoint. @throws Failure */
export async function readStart(name: string): Promise<CheckpointTable | Checkpoint> {
  const trust = await readTrust(name);
  if (trust.basis === "table") return trust.table;
  if ("checkpoint" in trust) return trust.checkpoint;
  throw new Failure(EXIT.usage, `${name} has a root alone`, ["A walk begins from a checkpoint, or from a table."]);
}

async function readBounded(path: string): Promise<Uint8Array> {
  const failure = failsFor(
    EXIT.unreadable,
    `read ${path}`,
    "file",
    `Shipped: ${Object.keys(SHIPPED_CHECKPOINTS).join(", ")}.`,
  );
  return (await readNamed(path, MAX_CHECKPOINT_TABLE_BYTES).catch(failure)).bytes;
}

/** For `withEvidence`. */
export function trustOptions(
  trusts: readonly CheckpointTrust[],
): Pick<EvidenceOptions, "checkpoints" | "tables" | "roots"> {
  return {
    checkpoints: trusts.flatMap((trust) => ("checkpoint" in trust ? [trust.checkpoint] : [])),
    tables: trusts.flatMap((trust) => ("table" in trust ? [trust.table] : [])),
    roots: trusts.flatMap((trust) => ("root" in trust ? [trust.root] : [])),
  };
}

/** Which of them the evidence rests on, once `withEvidence` has found that it rests on one. */
export function trustOf(
  { checkpoint, path }: AlgorandStateProofItem,
  trusts: readonly CheckpointTrust[],
): CheckpointTrust | undefined {
  const root = path && rootOfCheckpoint(checkpoint, path);
  return trusts.find((trust) => {
    if ("checkpoint" in trust) return sameCheckpoint(trust.checkpoint, checkpoint);
    return "table" in trust ? hasCheckpoint(trust.table, checkpoint) : trust.root === root;
  });
}
