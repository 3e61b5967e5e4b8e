import type { Inclusion, Level, Statement } from "@attestd/proof";
import { hasCode, type ServiceError } from "../lib/errors.ts";
import type { BlockWork, WorkFunctions } from "./block-work.ts";

/** A transaction's confirmation: in a block, in a batch on L1, irreversible. */
export type ConfirmationLevel = Level;

/** In ascending order. */
export const LEVELS: readonly ConfirmationLevel[] = ["included", "safe", "finalized"];

/** The name of a source chain, from its ChainFormat. */
export type ChainName = string;

/** The level below which a source is refused as not final, and the seconds in which a block may reach it. */
export type RequiredLevel = { level: ConfirmationLevel; retryAfter: number };

/** A transaction's block. `hash` was recomputed from the header's bytes, which contain height and time. */
export type BlockOfTransaction = Statement["block"];

/** A confirmed transaction, bound to its id by recomputation: the id of `bytes` is `txnId`. */
export type SourceTransaction = {
  chain: ChainName;
  /** CAIP-2 of the chain that the transaction names, else of the configured chain. */
  caip2: string;
  txnId: string;
  /** The exact bytes that hash to the id (docs/format.md). */
  bytes: Uint8Array;
  level: ConfirmationLevel;
  block: BlockOfTransaction;
  /** How it ended, by its receipt; absent if the chain's blocks hold no failed transactions. */
  succeeded?: boolean;
};

/** Every requested transaction, or why it cannot be attested, by the requested id. */
export type SourceTransactions = Map<string, SourceTransaction | SourceError>;

/** A block, bound to its hash by recomputation: the hash of `header` is `blockHash`. */
export interface SourceBlock {
  readonly chain: ChainName;
  /** CAIP-2 of the chain that the header names, else of the configured chain. */
  readonly caip2: string;
  /** As the header has it. */
  readonly height: number;
  readonly blockHash: string;
  /** The exact bytes that have the hash (docs/format.md). */
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
   * Builds and checks the proof that leads from the transaction to the block's header, from everything in the block.
   * @throws SourceError about the transaction; ProviderError when the block cannot be read completely or is no longer
   *   the one at its height
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

/** Why a chain's source cannot be attested. */
export type SourceError = ServiceError<(typeof SOURCE_CODES)[number]>;

/** Whether a source was found, or may exist, and cannot be read. In this case nothing is known to be absent. */
export function isUndecided(error: unknown): boolean {
  return hasCode(error, "source_unreadable", "source_not_kept", "source_unprovable");
}

export function isSourceError(error: unknown): error is SourceError {
  return hasCode(error, ...SOURCE_CODES);
}

/**
 * A chain whose transactions and blocks can be attested.
 *
 * An implementation MUST recompute the id of the bytes that it returns, MUST NOT trust a provider's statement of it,
 * and MUST return the highest level that it has itself seen. It does not refuse lower levels: the subject does. For a
 * transaction's block, the hash MUST be recomputed from the header's bytes, and the nodes MUST agree on it and on the
 * outcome. Proofs MUST be built from the block's contents and lead to its header's root; a node's own proof is not
 * accepted.
 */
export interface SourceChain {
  /** The level required to attest a transaction, and to attest a block or a proof that leads to one. */
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
   * Fetches several confirmed transactions like `transaction`, sharing blocks and requests between them. It never sends
   * more requests than `transaction` would for the same ids.
   * @param txnIds each in its one spelling; at most 1,000
   * @returns every id, with its transaction or why that cannot be attested
   * @throws ProviderError when the nodes do not answer about one of them; sources_too_large when the transactions
   *   together have more than `MAX_SOURCE_BYTES`
   */
  transactions(txnIds: readonly string[], signal: AbortSignal): Promise<SourceTransactions>;

  /**
   * Reads the block at a height.
   * @throws SourceError when there is none, or it is another chain's; ProviderError when the nodes do not answer
   */
  block(height: number, signal: AbortSignal): Promise<SourceBlock>;
}

/** What is needed to read a source chain. @typeParam N the clients of its nodes. @typeParam W its block work */
export type ChainReading<N, W extends WorkFunctions> = {
  nodes: N;
  /** CAIP-2 of the configured chain, to which data that names no chain belongs. */
  caip2: string;
  /** CAIP-2 of every chain whose data is accepted. */
  accepted: ReadonlySet<string>;
  work: BlockWork<W>;
};

/** The open chains, by name. Only configured chains are open. */
export type SourceChains = ReadonlyMap<ChainName, SourceChain>;
