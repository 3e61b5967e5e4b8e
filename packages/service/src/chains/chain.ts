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
};

export type SourceErrorCode =
  /** Every provider needed, caught up, says that there is no such transaction. */
  | "source_not_found"
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
 * A chain whose transactions can be attested.
 *
 * An implementation MUST recompute the id of the bytes that it returns, MUST NOT trust a provider's word for it, and
 * MUST tell the highest level which it has itself seen. It does not decide which level is enough: the subject does.
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
}
