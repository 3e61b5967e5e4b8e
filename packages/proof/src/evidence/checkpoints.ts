import { numberToBytesBE } from "@noble/curves/utils.js";
import { type Checkpoint, readCheckpoint } from "../algorand/state-proof/message.ts";
import { concatBytes, fromBase64, toBase64, toHex, utf8 } from "../encoding.ts";
import { formatError, malformed, ProofError } from "../errors.ts";
import { parseJson } from "../json/parse.ts";
import { base64, constant, hex32Bytes, integer, list, object, type Reader } from "../json/readers.ts";
import { leafHash, merkleTree, rootByPath } from "../rfc6962.ts";

/*
 * A table of a network's checkpoints, one per interval, and its root: the RFC 6962 tree (RFC 9162 section 2.1) over the
 * checkpoints' bytes. With the root, a path of some 20 hashes proves any checkpoint.
 */

/** The bytes of an entry: the voters' commitment (64) and ln of the proven weight (8, big-endian). */
export const CHECKPOINT_ENTRY_LENGTH = 72;
const COMMITMENT_LENGTH = 64;

export type CheckpointTable = {
  /** Base64 of 32 bytes. */
  genesisHash: string;
  /** The round of the first checkpoint. */
  firstRound: number;
  /** The number of rounds from one checkpoint to the next. */
  interval: number;
  /** `CHECKPOINT_ENTRY_LENGTH` bytes each. */
  entries: Uint8Array;
};

/** The path from a checkpoint to the root of a table of `size` checkpoints. */
export type CheckpointPath = {
  /** The checkpoint's index in the table, from 0. */
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

/** The entry of a checkpoint: 72 bytes. */
export function checkpointEntry({ votersCommitment, lnProvenWeight }: Checkpoint): Uint8Array {
  return concatBytes(fromBase64(votersCommitment), numberToBytesBE(lnProvenWeight, 8));
}

/** Returns the checkpoint at an index. @throws RangeError if there is none */
export function checkpointAt(
  { genesisHash, firstRound, interval, entries }: CheckpointTable,
  index: number,
): Checkpoint {
  const entry = entries.subarray(index * CHECKPOINT_ENTRY_LENGTH, (index + 1) * CHECKPOINT_ENTRY_LENGTH);
  if (!Number.isInteger(index) || index < 0 || entry.length !== CHECKPOINT_ENTRY_LENGTH)
    throw new RangeError(`no checkpoint ${index}`);
  const lnProvenWeight = Number(new DataView(entry.buffer, entry.byteOffset).getBigUint64(COMMITMENT_LENGTH));
  if (!Number.isSafeInteger(lnProvenWeight) || lnProvenWeight === 0)
    throw malformed("checkpoints: a weight is 0, or not a safe integer");
  const votersCommitment = toBase64(entry.subarray(0, COMMITMENT_LENGTH));
  return { genesisHash, round: firstRound + index * interval, votersCommitment, lnProvenWeight };
}

/** The root of a table, lower-case hex. @throws ProofError `malformed` if it is empty or ends within an entry */
export function checkpointRoot(table: CheckpointTable): string {
  return toHex(merkleTree(leavesOf(table)).root);
}

/** Returns the path of the checkpoint at an index. @throws RangeError if there is none */
export function proveCheckpoint(table: CheckpointTable, index: number): CheckpointPath {
  const leaves = leavesOf(table);
  return { index, size: leaves.length, hashes: merkleTree(leaves).path(index).map(toBase64) };
}

/**
 * Computes the root to which a path leads from a checkpoint, lower-case hex; undefined if it has too many or too few
 * hashes.
 */
export function rootOfCheckpoint(checkpoint: Checkpoint, { index, size, hashes }: CheckpointPath): string | undefined {
  const { genesisHash, round } = checkpoint;
  const leaf = leafOf(fromBase64(genesisHash), round, checkpointEntry(checkpoint));
  const root = rootByPath(leaf, index, size, hashes.map(fromBase64));
  return root && toHex(root);
}

/** The number of checkpoints in a table. @throws ProofError `malformed` if it is empty or ends within an entry */
export function checkpointCount({ entries }: CheckpointTable): number {
  const size = entries.length / CHECKPOINT_ENTRY_LENGTH;
  if (size === 0 || !Number.isInteger(size)) throw malformed("checkpoints: not a whole number of entries");
  return size;
}

/** Returns the first checkpoints of a table: the table at an earlier size. @throws RangeError if it has fewer */
export function firstCheckpoints(table: CheckpointTable, size: number): CheckpointTable {
  if (!Number.isInteger(size) || size < 1 || size > checkpointCount(table)) throw new RangeError(`no size ${size}`);
  return { ...table, entries: table.entries.subarray(0, size * CHECKPOINT_ENTRY_LENGTH) };
}

/** Returns the index of a round's checkpoint; undefined if the table has none for that round. */
export function checkpointIndex(table: CheckpointTable, round: number): number | undefined {
  const index = (round - table.firstRound) / table.interval;
  return Number.isInteger(index) && index >= 0 && index < checkpointCount(table) ? index : undefined;
}

/** Whether a table has exactly this checkpoint. */
export function hasCheckpoint(table: CheckpointTable, checkpoint: Checkpoint): boolean {
  const index = checkpointIndex(table, checkpoint.round);
  return index !== undefined && sameCheckpoint(checkpointAt(table, index), checkpoint);
}

/** Whether two checkpoints are the same in every member. */
export function sameCheckpoint(one: Checkpoint, other: Checkpoint): boolean {
  return Object.entries(one).every(([name, value]) => other[name as keyof Checkpoint] === value);
}

const headMembers = {
  format: constant("attestd.checkpoints/1"),
  genesisHash: base64(32),
  firstRound: integer(0),
  interval: integer(1),
  size: integer(1),
  /** Lower-case hex. */
  root: hex32Bytes,
} as const;
const readHead = object(headMembers);

/** A table without its entries: the first line of its file, and the main part of what a service publishes. */
export type CheckpointTableHead = ReturnType<typeof readHead>;

/** The description of a table that a service publishes, with its last checkpoints, the newest last. */
export type PublishedCheckpoints = CheckpointTableHead & { last: Checkpoint[] };

/** Reads a service's published description of its table. @throws ProofError `format` */
export const readPublishedCheckpoints: Reader<PublishedCheckpoints> = object({
  ...headMembers,
  last: list(20, readCheckpoint),
});

/** Returns the head of a table. @throws ProofError `malformed` like `checkpointRoot` */
export function checkpointTableHead(table: CheckpointTable): CheckpointTableHead {
  const { genesisHash, firstRound, interval } = table;
  const size = checkpointCount(table);
  return { format: "attestd.checkpoints/1", genesisHash, firstRound, interval, size, root: checkpointRoot(table) };
}

/** The size limit of a table's file: 1.8 million checkpoints. */
export const MAX_CHECKPOINT_TABLE_BYTES = 128 * 2 ** 20;
/** The limit of a head, which has some 250 bytes. */
const MAX_HEAD_BYTES = 1024;
const NEWLINE = 0x0a;

/** Encodes a table as a file: its head as a line of JSON, then its entries. */
export function encodeCheckpointTable(table: CheckpointTable): Uint8Array {
  return concatBytes(utf8(`${JSON.stringify(checkpointTableHead(table))}\n`), table.entries);
}

/** Whether the bytes begin like a table's file, and not like other JSON. */
export function isCheckpointTable(bytes: Uint8Array): boolean {
  try {
    return readHead(parseJson(headBytes(bytes)), "") !== undefined;
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}

/**
 * Reads a table's file. Its entries are a view of the bytes.
 * @throws ProofError `json`, `format` or `malformed` if it is not a table's file, was cut, or its entries do not have
 *   its root
 */
export function decodeCheckpointTable(bytes: Uint8Array): CheckpointTable {
  if (bytes.length > MAX_CHECKPOINT_TABLE_BYTES)
    throw malformed(`checkpoints: more than ${MAX_CHECKPOINT_TABLE_BYTES} bytes`);
  const line = headBytes(bytes);
  const { format: _, size, root, ...head } = readHead(parseJson(line), "");
  const table = { ...head, entries: bytes.subarray(line.length + 1) };
  if (checkpointCount(table) !== size) throw malformed(`checkpoints: does not have ${size} entries`);
  for (let index = 0; index < size; index++) checkpointAt(table, index);
  if (checkpointRoot(table) !== root) throw malformed("checkpoints: its entries do not have its root");
  return table;
}

function headBytes(bytes: Uint8Array): Uint8Array {
  const end = bytes.subarray(0, MAX_HEAD_BYTES).indexOf(NEWLINE);
  if (end === -1) throw malformed("checkpoints: no head");
  return bytes.subarray(0, end);
}

/** Genesis hash (32), round (8), voters' commitment (64), ln of the proven weight (8): integers are big-endian. */
function leafOf(genesisHash: Uint8Array, round: number, entry: Uint8Array): Uint8Array {
  return leafHash(concatBytes(genesisHash, numberToBytesBE(round, 8), entry));
}

function leavesOf(table: CheckpointTable): Uint8Array[] {
  const genesisHash = fromBase64(table.genesisHash);
  return Array.from({ length: checkpointCount(table) }, (_, index) => {
    const entry = table.entries.subarray(index * CHECKPOINT_ENTRY_LENGTH, (index + 1) * CHECKPOINT_ENTRY_LENGTH);
    return leafOf(genesisHash, table.firstRound + index * table.interval, entry);
  });
}
