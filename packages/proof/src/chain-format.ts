import type { Crypto } from "./signature.ts";

/** How sure the source chain was of what it showed. Algorand's blocks are final at once. */
export type Level = "included" | "safe" | "finalized";

/** The outcome of a transaction, by its receipt: `unknown` where the receipt is of a type that is opaque here. */
export type ReceiptStatus = "succeeded" | "failed" | "unknown";

/** What a check found wrong. */
export type Finding = {
  /** What the bundle states. */
  stated?: string;
  /** What its bytes, or the verifier's own knowledge, give instead. */
  computed?: string;
  /** JSON pointer to what is wrong; of the note it leads on into the note's own JSON. */
  pointer?: string;
  /** For people, where `stated` and `computed` do not explain it. */
  message?: string;
};

/** A proof that a transaction is in a block. Each chain has members of its own. */
export type AnyInclusion = { kind: string };

/** How a chain spells its transaction ids, or its block hashes: ASCII letters and digits, at most 100, as notes have them. */
export interface IdForm {
  /** The one spelling in bundles and notes: anchored, without flags. */
  readonly pattern: RegExp;
  /** Every spelling that a request may use: anchored, without flags. Absent where `pattern` is the only one. */
  readonly requestPattern?: RegExp;
  /** Turns a request's spelling into the one spelling. Absent where there is no other. */
  normalize?(id: string): string;
  /** For people, such as `52 base32 characters`. */
  readonly description: string;
}

/**
 * A source chain: everything that a verifier must know of a chain whose transactions and blocks are attested. A function
 * that takes bytes throws ProofError `malformed` for bytes that the chain would not take.
 */
export interface ChainFormat<I extends AnyInclusion = AnyInclusion> {
  /** The chain's name in bundles and requests: lower case. */
  readonly name: string;
  /** The chain's name for people. */
  readonly label: string;
  /** CAIP-2 of the chain's main network. */
  readonly caip2: string;
  /** MUST match no transaction id of another chain: a bundle may leave its chain to be inferred. */
  readonly transactionId: IdForm;
  readonly blockHash: IdForm;
  /** The chain's own terms, for documents. */
  readonly terms: {
    /** The height of a block, such as `round`. */
    readonly height: string;
    /** The bytes whose hash is the transaction id. */
    readonly transactionBytes: string;
    /** The bytes whose hash is the block hash. */
    readonly headerBytes: string;
  };
  /** The levels of confirmation that a note may state. */
  readonly levels: readonly Level[];
  /**
   * Recomputes what a transaction's bytes show.
   * @param ledger CAIP-2 of the ledger of record
   */
  transaction(bytes: Uint8Array, ledger: string, crypto: Crypto): { txnId: string; caip2: string };
  /** Recomputes what a header's bytes show. @param ledger as above */
  header(bytes: Uint8Array, ledger: string, crypto: Crypto): { blockHash: string; height: number; caip2: string };
  /** Reads a bundle's `inclusion`. @throws ProofError `format` */
  readInclusion(value: unknown, pointer: string): I;
  /** Checks that the proof leads from the transaction to the header. @returns what is wrong; empty where nothing is */
  checkInclusion(inclusion: I, transaction: Uint8Array, header: Uint8Array, crypto: Crypto): Finding[];
  /** The outcome of the transaction by its receipt, in an inclusion in which `checkInclusion` found nothing wrong. */
  receiptStatus?(inclusion: I, transaction: Uint8Array): ReceiptStatus | undefined;
  /** The state proof's commitment to which an inclusion leads on from the header, base64. */
  commitment?(inclusion: I): string | undefined;
}
