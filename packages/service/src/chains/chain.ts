import type { Inclusion } from "@attestd/proof";

/** How deep a transaction lies on its chain: in a block, in a batch on L1, irreversible. Algorand knows only the last. */
export type ConfirmationLevel = "included" | "safe" | "finalized";

export type ChainName = "algorand" | "base";

/** A confirmed transaction, bound to its id by recomputation: the id of `bytes` is `txnId`. */
export type SourceTransaction = {
  chain: ChainName;
  /** CAIP-2 of the chain which the transaction itself names, else of the configured chain. */
  caip2: string;
  txnId: string;
  /** The exact bytes that the id hashes (format.md): Algorand's unsigned canonical msgpack, Base's EIP-2718 bytes. */
  bytes: Uint8Array;
  level: ConfirmationLevel;
  /** Round or block number that holds it. */
  height: number;
  /** When its block was made, by the block's own word: seconds since 1970. Absent where the block was not read. */
  time?: number;
};

/** A block, bound to its hash by recomputation: the hash of `header` is `blockHash`. */
export interface SourceBlock {
  readonly chain: ChainName;
  /** CAIP-2 of the chain which the header itself names, else of the configured chain. */
  readonly caip2: string;
  /** Round or block number, which is the header's own. */
  readonly height: number;
  readonly blockHash: string;
  /** The exact bytes that the hash is of (format.md): Algorand's canonical msgpack, Base's RLP. */
  readonly header: Uint8Array;
  readonly level: ConfirmationLevel;

  /**
   * Looks for a transaction in this block.
   *
   * @returns undefined when the block does not hold it
   * @throws SourceError when it is an inner transaction; ProviderError when it cannot be told
   */
  find(txnId: string, signal: AbortSignal): Promise<TransactionInBlock | undefined>;
}

export interface TransactionInBlock {
  /**
   * Builds the way from the transaction to the block's header, from everything that the block holds, and checks it.
   *
   * @throws SourceError about the transaction; ProviderError when the block cannot be read whole or is no longer the one
   *   at its height
   */
  prove(signal: AbortSignal): Promise<ProvedTransaction>;
}

/** A transaction, bound to its id, and the proof that leads from its bytes to the root in its block's header. */
export type ProvedTransaction = { bytes: Uint8Array; inclusion: Inclusion };

export type SourceErrorCode =
  /** Every provider needed, caught up, says that there is no such transaction. */
  | "source_not_found"
  /** Every provider needed, caught up, has no block of this height yet. */
  | "block_not_found"
  /** An inner transaction: it has no bytes of its own; `rootId` is what can be attested. */
  | "source_inner_transaction"
  /** It names another chain than the configured ones. */
  | "source_wrong_chain"
  /** Found, but no provider gave bytes that hash to the id. */
  | "source_unreadable";

export class SourceError extends Error {
  readonly code: SourceErrorCode;
  readonly rootId?: string;

  constructor(code: SourceErrorCode, message: string, options: { rootId?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "SourceError";
    this.code = code;
    if (options.rootId !== undefined) this.rootId = options.rootId;
  }
}

/**
 * A chain whose transactions and blocks can be attested.
 *
 * An implementation MUST recompute the id of the bytes that it returns, MUST NOT trust a provider's word for it, and
 * MUST tell the highest level which it has itself seen. It does not decide which level is enough: the subject does.
 * Proofs MUST be built from what the block holds and lead to its header's root; a node's own proof is no source.
 */
export interface SourceChain {
  readonly name: ChainName;

  /** Whether `id` has the form of this chain's transaction ids. Asks no one. */
  isTransactionId(id: string): boolean;

  /** The spelling of an id that enters subjects, notes and bundles (Base: lower case). */
  normalizeTransactionId(id: string): string;

  /**
   * Fetches a confirmed transaction.
   *
   * @param signal ends the look-up; the caller's one deadline for the request
   * @throws SourceError about the transaction; ProviderError when it cannot be told
   */
  transaction(txnId: string, signal: AbortSignal): Promise<SourceTransaction>;

  /**
   * Reads the block of a height.
   *
   * @throws SourceError when there is none, or it is of another chain; ProviderError when it cannot be told
   */
  block(height: number, signal: AbortSignal): Promise<SourceBlock>;
}
