import type { Crypto } from "./signature.ts";

/** How final the block was on its chain. Algorand's blocks are final at once. */
export type Level = "included" | "safe" | "finalized";

/** A transaction's outcome by its receipt; `unknown` for a type of receipt that is not known here. */
export type ReceiptStatus = "succeeded" | "failed" | "unknown";

/** A fault that a check found. */
export type Finding = {
  /** The bundle's value. */
  stated?: string;
  /** The value recomputed from the bundle's bytes or the verifier's own inputs. */
  computed?: string;
  /** JSON pointer to the value; after `/attest/note` it leads into the note's own JSON. */
  pointer?: string;
  /** Explains the fault to people, if `stated` and `computed` do not. */
  message?: string;
};

/** Pointer to the ledger in the signed part's note. */
export const LEDGER_POINTER = "/attest/note/g";

/** The pointer to the signed head in an item of a batch. */
export const HEAD_POINTER = "/batch";

/** Whether a pointer into a bundle leads to `place` in its signed part: the bundle, or an item's batch head. */
export function isAt(pointer: string | undefined, place: string): boolean {
  return pointer === place || pointer === HEAD_POINTER + place;
}

/** Returns a finding if two values differ. */
export function compare<T extends string | number>(pointer: string, stated: T, computed: T | undefined): Finding[] {
  if (stated === computed) return [];
  const finding = { pointer, stated: String(stated) };
  return [computed === undefined ? finding : { ...finding, computed: String(computed) }];
}

/** A proof that a transaction is in a block. Each chain adds its own members. */
export type AnyInclusion = { kind: string };

/** The spelling of a chain's transaction ids or block hashes: at most 100 ASCII letters and digits. */
export interface IdForm {
  /** In bundles and notes: anchored, without flags. */
  readonly pattern: RegExp;
  /** In requests, if they may use other spellings: anchored, without flags. */
  readonly requestPattern?: RegExp;
  /** Converts a request's spelling to that of bundles. */
  normalize?(id: string): string;
  /** For people, such as `52 base32 characters`. */
  readonly description: string;
}

/**
 * A source chain. Every function that takes bytes throws ProofError `malformed` for bytes that the chain would not
 * accept.
 */
export interface ChainFormat<I extends AnyInclusion = AnyInclusion> {
  /** In bundles and requests: lower case. */
  readonly name: string;
  /** The name for people. */
  readonly label: string;
  /** CAIP-2 of the chain's main network. */
  readonly caip2: string;
  /** MUST match no transaction id of another chain: a bundle may leave out its chain. */
  readonly transactionId: IdForm;
  readonly blockHash: IdForm;
  /** For documents: the chain's own terms for a block's height and for the bytes whose hashes are the ids. */
  readonly terms: { readonly height: string; readonly transactionBytes: string; readonly headerBytes: string };
  /** The levels of confirmation that a note may state. */
  readonly levels: readonly Level[];
  /** Whether blocks hold failed transactions. If so, a note states the outcome; if not, it does not. */
  readonly transactionsCanFail: boolean;
  /** Recomputes a transaction's id and chain from its bytes. @param ledger CAIP-2 of the ledger of record */
  transaction(bytes: Uint8Array, ledger: string, crypto: Crypto): { txnId: string; caip2: string };
  /** Recomputes a block's hash, height and chain from its header. @param ledger as above */
  header(bytes: Uint8Array, ledger: string, crypto: Crypto): { blockHash: string; height: number; caip2: string };
  /** Reads a bundle's `inclusion`. @throws ProofError `format` */
  readInclusion(value: unknown, pointer: string): I;
  /** Checks that the proof leads from the transaction to the header. @returns the faults */
  checkInclusion(inclusion: I, transaction: Uint8Array, header: Uint8Array, crypto: Crypto): Finding[];
  /** Returns the transaction's outcome by its receipt, from an inclusion without faults. */
  receiptStatus?(inclusion: I, transaction: Uint8Array): ReceiptStatus | undefined;
  /** Returns the state proof commitment to which an inclusion leads from the header, base64. */
  commitment?(inclusion: I): string | undefined;
}
