import type { Inclusion, Level, Statement } from "@attestd/proof";
import { hasCode, type ServiceError } from "../errors.ts";
import type { BlockWork, WorkFunctions } from "./block-work.ts";

/** How deep a transaction lies on its chain: in a block, in a batch on L1, irreversible. */
export type ConfirmationLevel = Level;

/** From the lowest. */
export const LEVELS: readonly ConfirmationLevel[] = ["included", "safe", "finalized"];

/** The name of a source chain: its ChainFormat's. */
export type ChainName = string;

/** A level below which a source is refused as not final, and the seconds in which a block may reach it. */
export type RequiredLevel = { level: ConfirmationLevel; retryAfter: number };

/** The block in which a transaction stands. `hash` was recomputed from the header's bytes, which have height and time. */
export type BlockOfTransaction = Statement["block"];

/** A confirmed transaction, bound to its id by recomputation: the id of `bytes` is `txnId`. */
export type SourceTransaction = {
  chain: ChainName;
  /** CAIP-2 of the chain that the transaction names, else of the configured chain. */
  caip2: string;
  txnId: string;
  /** The exact bytes that the id is the hash of (docs/format.md). */
  bytes: Uint8Array;
  level: ConfirmationLevel;
  block: BlockOfTransaction;
  /** How it ended, by its receipt; absent on chains where no transaction that failed stands in a block. */
  succeeded?: boolean;
};

/** Every transaction that was asked for, or why it cannot be attested, by its id as it was asked for. */
export type SourceTransactions = Map<string, SourceTransaction | SourceError>;

/** A block, bound to its hash by recomputation: the hash of `header` is `blockHash`. */
export interface SourceBlock {
  readonly chain: ChainName;
  /** CAIP-2 of the chain that the header names, else of the configured chain. */
  readonly caip2: string;
  /** As the header has it. */
  readonly height: number;
  readonly blockHash: string;
  /** The exact bytes that the hash is of (docs/format.md). */
  readonly header: Uint8Array;
  readonly level: ConfirmationLevel;

  /**
   * Looks for a transaction in this block.
   *
   * @returns undefined when the block does not hold it
   * @throws SourceError when it is an inner transaction; ProviderError when the nodes do not answer
   */
  find(txnId: string, signal: AbortSignal): Promise<TransactionInBlock | undefined>;
}

export interface TransactionInBlock {
  /**
   * Builds the proof that leads from the transaction to the block's header, from all that the block holds, and checks it.
   *
   * @throws SourceError about the transaction; ProviderError when the block cannot be read whole or is no longer the one
   *   at its height
   */
  prove(signal: AbortSignal): Promise<ProvedTransaction>;
}

/** A transaction, bound to its id, and the proof that leads from its bytes to the root in its block's header. */
export type ProvedTransaction = { bytes: Uint8Array; inclusion: Inclusion };

const SOURCE_CODES = [
  "source_not_found",
  "block_not_found",
  "source_inner_transaction",
  "source_wrong_chain",
  "source_unreadable",
  "source_not_kept",
  "source_unprovable",
] as const;

/** What a chain shows about a source that cannot be attested. */
export type SourceError = ServiceError<(typeof SOURCE_CODES)[number]>;

/** Whether a source was found, or may exist, and cannot be read: nothing is known to be absent. */
export function isUndecided(error: unknown): boolean {
  return hasCode(error, "source_unreadable", "source_not_kept", "source_unprovable");
}

export function isSourceError(error: unknown): error is SourceError {
  return hasCode(error, ...SOURCE_CODES);
}

/**
 * A chain whose transactions and blocks can be attested.
 *
 * An implementation MUST recompute the id of the bytes that it returns, MUST NOT trust a provider's statement of it, and
 * MUST return the highest level that it has itself seen. It does not refuse lower levels: the subject does.
 * Of a transaction's block, the hash MUST be recomputed from the header's bytes, and the nodes MUST agree on it and on the outcome.
 * Proofs MUST be built from what the block holds and lead to its header's root; a node's own proof is no source.
 */
export interface SourceChain {
  /** What is needed to attest a transaction; and a block, or a proof that leads to one. */
  readonly required: Readonly<Record<"transaction" | "block", RequiredLevel>>;

  /**
   * Fetches a confirmed transaction.
   *
   * @param txnId in its one spelling
   * @param signal ends the look-up; the caller's one deadline for the request
   * @throws SourceError about the transaction; ProviderError when the nodes do not answer
   */
  transaction(txnId: string, signal: AbortSignal): Promise<SourceTransaction>;

  /**
   * Fetches several confirmed transactions as `transaction` fetches each, sharing blocks and requests between them: never by
   * more requests than `transaction` would send for the same ids.
   *
   * @param txnIds each in its one spelling; at most 1,000
   * @returns every id, with its transaction or why that cannot be attested
   * @throws ProviderError when the nodes do not answer about one of them; sources_too_large when the transactions have more
   *   than `MAX_SOURCE_BYTES` in all
   */
  transactions(txnIds: readonly string[], signal: AbortSignal): Promise<SourceTransactions>;

  /**
   * Reads the block of a height.
   *
   * @throws SourceError when there is none, or it is of another chain; ProviderError when the nodes do not answer
   */
  block(height: number, signal: AbortSignal): Promise<SourceBlock>;
}

/** The means by which a source chain is read. @typeParam N the clients of its nodes. @typeParam W its block work */
export type ChainReading<N, W extends WorkFunctions> = {
  nodes: N;
  /** CAIP-2 of the configured chain, to which data that name no chain belong. */
  caip2: string;
  /** CAIP-2 of every chain whose data are taken. */
  accepted: ReadonlySet<string>;
  work: BlockWork<W>;
};

/** The chains that are configured, open, by name. */
export type SourceChains = ReadonlyMap<ChainName, SourceChain>;
