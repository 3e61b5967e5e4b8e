import type { Level } from "./chain-format.ts";
import { toBase64Url, utf8 } from "./encoding.ts";
import { attempt, formatError, isProofError, type ProofError } from "./errors.ts";
import { canonicalize } from "./json/canonical.ts";
import { type JsonValue, parseJson } from "./json/parse.ts";
import {
  base64Url16Bytes,
  base64Url32Bytes,
  caip2,
  constant,
  hex32Bytes,
  integer,
  isObject,
  object,
  string,
} from "./json/readers.ts";
import { sha256 } from "./sha2.ts";

type SubjectNote = {
  /** Attestor: base64url SHA-256 of the raw ML-DSA-65 public key. */
  a: string;
  /** Source chain, CAIP-2. */
  c: string;
  /** The ledger on which the note is recorded, CAIP-2. */
  g: string;
  /** Hex SHA-256 of the source's bytes: the transaction's, or the block header's. */
  h: string;
  l: Level;
  /** Payment: see `paymentCommitment`. */
  p: string;
};

type BlockMembers = {
  /** Block hash. */
  b: string;
  /** Height. */
  n: number;
};

/** The note of a transaction; `b` and `n` are its block's. */
export type TransactionNote = SubjectNote &
  BlockMembers & {
    /** Outcome: 1 for succeeded, 0 for failed; absent if the chain's blocks hold no failed transactions. */
    s?: 0 | 1;
    /** Transaction id. */
    t: string;
    /** The time in the block's header, in Unix seconds. */
    u: number;
  };

/** The note of a block, also for an inclusion in it. */
export type BlockNote = SubjectNote & BlockMembers;

/** The note of a batch. */
export type BatchNote = Pick<SubjectNote, "a" | "g" | "p"> & {
  /** Hex of the tree's root. */
  r: string;
  /** The number of items. */
  z: number;
};

/** Announces an attestor's next key or a revocation. */
export type KeyNote = {
  /** The ledger on which the note is recorded, CAIP-2. */
  g: string;
  /** See `keyEntryHash` and `keyRevocationHash`. */
  k: string;
};

export type Note = TransactionNote | BlockNote | BatchNote | KeyNote;

/** ARC-2: `<dapp name>:<format><data>`, the format `j` being JSON. */
const PREFIX = "attestd/v1:j";
/** Algorand's limit. */
export const MAX_NOTE_BYTES = 1024;

/** Encodes a note as text: ARC-2, canonical JSON. Its UTF-8 is the transaction's note field. */
export function encodeNote(note: Note): string {
  return PREFIX + canonicalize(note);
}

/** Reads a note in the spelling of `encodeNote`. @throws ProofError `format` pointing into the note's JSON */
export function parseNote(text: string): Note {
  if (utf8(text).length > MAX_NOTE_BYTES) throw formatError("", `longer than ${MAX_NOTE_BYTES} bytes`);
  if (!text.startsWith(PREFIX)) throw formatError("", `does not begin with ${PREFIX}`);
  const note = readNote(parseNoteJson(text.slice(PREFIX.length)));
  if (encodeNote(note) !== text) throw formatError("", "not canonical: members sorted, no white space");
  return note;
}

/** @returns the error if the note has none of our forms */
export function noteOrFault(text: string): Note | ProofError {
  try {
    return parseNote(text);
  } catch (error) {
    if (isProofError(error, "format")) return error;
    throw error;
  }
}

/**
 * Returns the ledger that a text names, if it begins like a note and is JSON, whatever else it states; else undefined.
 */
export function ledgerOfNote(text: string): string | undefined {
  const value = text.startsWith(PREFIX) ? attempt("json", () => parseJson(text.slice(PREFIX.length))) : undefined;
  return isObject(value) && typeof value.g === "string" ? value.g : undefined;
}

function parseNoteJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (cause) {
    throw formatError("", `not JSON: ${(cause as Error).message}`);
  }
}

function readNote(value: JsonValue): Note {
  if (isObject(value) && Object.hasOwn(value, "k")) return readKeyNote(value, "");
  if (isObject(value) && Object.hasOwn(value, "t")) return readTransactionNote(value, "");
  if (isObject(value) && Object.hasOwn(value, "r")) return readBatchNote(value, "");
  return readBlockNote(value, "");
}

const readKeyNote = object({ g: caip2, k: hex32Bytes });

const ATTESTATION = { a: base64Url32Bytes, g: caip2, p: base64Url16Bytes };
const SUBJECT = { ...ATTESTATION, c: caip2, h: hex32Bytes, l: constant("included", "safe", "finalized") };
/** The ids of all chains. */
const ID = /^[0-9A-Za-z]{1,100}$/;
const BLOCK = { b: string("a block hash", ID), n: integer(0) };
const readTransactionNote = object(
  { ...SUBJECT, ...BLOCK, t: string("a transaction id", ID), u: integer(0) },
  { s: constant(0, 1) },
);
const readBlockNote = object({ ...SUBJECT, ...BLOCK });
const readBatchNote = object({ ...ATTESTATION, r: hex32Bytes, z: integer(1) });

/**
 * Returns the note's `p`, which names the payment and not the payer: base64url of the first 16 bytes of the payment
 * key's SHA-256.
 * @param paymentKey ASCII
 */
export function paymentCommitment(paymentKey: string): string {
  return toBase64Url(sha256(utf8(paymentKey)).subarray(0, 16));
}
