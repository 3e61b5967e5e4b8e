import type { Checkpoint } from "../algorand/state-proof/message.ts";
import { concatBytes, fromBase64, toBase64, toHex } from "../encoding.ts";
import { formatError, malformed } from "../errors.ts";
import { base64, hex32Bytes, integer, list, object, type Reader } from "../json/readers.ts";
import { leafHash, merkleTree, rootByPath } from "../rfc6962.ts";

/*
 * A table of a network's checkpoints, one for each interval, and its root: a tree of RFC 6962 (RFC 9162 section 2.1), whose
 * leaves are the checkpoints' bytes. Who knows the root knows every checkpoint by a path of some 20 hashes.
 */

/** The bytes of an entry: the voters' commitment (64) and ln of the proven weight (8, big-endian). */
export const CHECKPOINT_ENTRY_LENGTH = 72;
const COMMITMENT_LENGTH = 64;

export type CheckpointTable = {
  /** Base64 of 32 bytes. */
  genesisHash: string;
  /** The round of the first checkpoint. */
  firstRound: number;
  /** The rounds from one checkpoint to the next. */
  interval: number;
  /** `CHECKPOINT_ENTRY_LENGTH` bytes each. */
  entries: Uint8Array;
};

/** The way from a checkpoint to the root of a table of `size` checkpoints. */
export type CheckpointPath = {
  /** The checkpoint's place in the table, from 0. */
  index: number;
  size: number;
  /** From leaf to root, base64 of 32 bytes each. */
  hashes: string[];
};

/** Reads a path. @throws ProofError `format` */
export const readCheckpointPath: Reader<CheckpointPath> = (value, pointer) => {
  const path = object({ index: integer(0), size: integer(1), hashes: list(53, base64(32)) })(value, pointer);
  if (path.index >= path.size) throw formatError(`${pointer}/index`, "must be below size");
  return path;
};

/** Reads the root of a table, lower-case hex of 32 bytes. @throws ProofError `format` */
export const readCheckpointRoot: Reader<string> = hex32Bytes;

/** The entry of a checkpoint: 72 bytes. */
export function checkpointEntry({ votersCommitment, lnProvenWeight }: Checkpoint): Uint8Array {
  return concatBytes(fromBase64(votersCommitment), uint64(lnProvenWeight));
}

/** The checkpoint at a place of the table. @throws RangeError if there is none */
export function checkpointAt(
  { genesisHash, firstRound, interval, entries }: CheckpointTable,
  index: number,
): Checkpoint {
  const entry = entries.subarray(index * CHECKPOINT_ENTRY_LENGTH, (index + 1) * CHECKPOINT_ENTRY_LENGTH);
  if (!Number.isInteger(index) || index < 0 || entry.length !== CHECKPOINT_ENTRY_LENGTH)
    throw new RangeError(`no checkpoint ${index}`);
  const lnProvenWeight = Number(new DataView(entry.buffer, entry.byteOffset).getBigUint64(COMMITMENT_LENGTH));
  if (!Number.isSafeInteger(lnProvenWeight)) throw malformed("checkpoint's weight is not a safe integer");
  const votersCommitment = toBase64(entry.subarray(0, COMMITMENT_LENGTH));
  return { genesisHash, round: firstRound + index * interval, votersCommitment, lnProvenWeight };
}

/** The root of a table, lower-case hex. @throws ProofError `malformed` if it is empty or ends within an entry */
export function checkpointRoot(table: CheckpointTable): string {
  return toHex(merkleTree(leavesOf(table)).root);
}

/** The path of the checkpoint at a place of the table. @throws RangeError if there is none */
export function proveCheckpoint(table: CheckpointTable, index: number): CheckpointPath {
  const leaves = leavesOf(table);
  return { index, size: leaves.length, hashes: merkleTree(leaves).path(index).map(toBase64) };
}

/** The root to which a path leads from a checkpoint, lower-case hex; undefined if it has too many or too few hashes. */
export function rootOfCheckpoint(checkpoint: Checkpoint, { index, size, hashes }: CheckpointPath): string | undefined {
  const root = rootByPath(leafOf(checkpoint), index, size, hashes.map(fromBase64));
  return root && toHex(root);
}

/** Genesis hash (32), round (8), voters' commitment (64), ln of the proven weight (8): integers are big-endian. */
function leafOf(checkpoint: Checkpoint): Uint8Array {
  const { genesisHash, round } = checkpoint;
  return leafHash(concatBytes(fromBase64(genesisHash), uint64(round), checkpointEntry(checkpoint)));
}

function leavesOf(table: CheckpointTable): Uint8Array[] {
  const size = table.entries.length / CHECKPOINT_ENTRY_LENGTH;
  if (size === 0 || !Number.isInteger(size)) throw malformed("checkpoints: not a whole number of entries");
  return Array.from({ length: size }, (_, index) => leafOf(checkpointAt(table, index)));
}

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}
