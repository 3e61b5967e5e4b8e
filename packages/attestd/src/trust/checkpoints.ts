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
import { EXIT, Failure, failsFor } from "../failure.ts";
import { readNamed } from "../files/files.ts";
import { fault } from "./keys.ts";

/**
 * What a user trusts about a ledger's stake: one checkpoint, a table that the user's own walk has made, the root that an
 * operator publishes, a root that the user knows, or a checkpoint that comes with attestd.
 */
export type CheckpointTrust = { name: string } & (
  | { basis: "checkpoint" | "release"; checkpoint: Checkpoint }
  | { basis: "table"; table: CheckpointTable }
  | { basis: "published" | "root"; root: string }
);

/** Reads what `--checkpoint` names. @throws Failure `unreadable` */
export function checkpointTrusts(names: readonly string[]): Promise<CheckpointTrust[]> {
  return Promise.all(names.map(readTrust));
}

/**
 * Reads a checkpoint, a table or what a service publishes from a file; or takes the root of a table (64 hex digits), or the name
 * of a checkpoint that comes with attestd. A file whose name looks like one of these is named with its folder: `./NAME`.
 * @throws Failure `unreadable`
 */
async function readTrust(name: string): Promise<CheckpointTrust> {
  if (/^[0-9a-f]{64}$/.test(name)) return { basis: "root", name, root: name };
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
    throw new Failure(EXIT.unreadable, `${name} is neither a checkpoint nor a table of them`, [fault(error)], error);
  }
}

/** Reads a file with a table of checkpoints. @throws Failure `unreadable` */
export async function readCheckpointTable(path: string): Promise<CheckpointTable> {
  const bytes = await readBounded(path);
  try {
    return decodeCheckpointTable(bytes);
  } catch (error) {
    throw new Failure(EXIT.unreadable, `${path} is not a table of checkpoints`, [fault(error)], error);
  }
}

/** Reads what a walk begins from: a table, or one checkpoint. @throws Failure */
export async function readStart(name: string): Promise<CheckpointTable | Checkpoint> {
  const trust = await readTrust(name);
  if (trust.basis === "table") return trust.table;
  if ("checkpoint" in trust) return trust.checkpoint;
  throw new Failure(EXIT.usage, `${name} has only a root`, ["A walk begins from a checkpoint, or from a table."]);
}

async function readBounded(path: string): Promise<Uint8Array> {
  const failure = failsFor(
    EXIT.unreadable,
    `read ${path}`,
    "file",
    `These come with attestd: ${Object.keys(SHIPPED_CHECKPOINTS).join(", ")}.`,
  );
  return (await readNamed(path, MAX_CHECKPOINT_TABLE_BYTES).catch(failure)).bytes;
}

/** The options of `withEvidence` for what the user trusts. */
export function trustOptions(
  trusts: readonly CheckpointTrust[],
): Pick<EvidenceOptions, "checkpoints" | "tables" | "roots"> {
  return {
    checkpoints: trusts.flatMap((trust) => ("checkpoint" in trust ? [trust.checkpoint] : [])),
    tables: trusts.flatMap((trust) => ("table" in trust ? [trust.table] : [])),
    roots: trusts.flatMap((trust) => ("root" in trust ? [trust.root] : [])),
  };
}

/** Finds which trusted checkpoint the evidence rests on, after `withEvidence` has found that it rests on one. */
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
