import { createHash } from "node:crypto";
import type { FactsOf, Location } from "../providers/algorand-nodes.ts";

/** Rounds in which a transaction may be confirmed, both inclusive (`fv` and `lv`). */
export type Window = { firstValid: number; lastValid: number };

/** Rounds from an attempt's first to its last valid one: few, so that a lost attempt expires within minutes. */
export const ATTEMPT_ROUNDS = 100;

/**
 * A signed attestation transaction. It is stored before its first submission; only these bytes are ever submitted for
 * it.
 */
export type Attempt = Window & {
  txid: string;
  /** Canonical msgpack of the signed transaction. */
  raw: Uint8Array;
};

/**
 * Returns the lease of all attempts for one thing, such as a payment: the ledger cannot confirm two transactions with
 * one lease within one window.
 */
export function leaseOf(what: string): Uint8Array {
  return createHash("sha256").update("attestd/lease/v1").update(what).digest();
}

/** A node's answer to a submission, reduced to the possible reactions. */
export type Submission =
  /** In the pool or already in the ledger. */
  | { status: "accepted" }
  /** Submit the same bytes again later: pool full, fee below the current threshold, time-out, 5xx, not yet valid. */
  | { status: "retry"; reason: string }
  /** Past its last round. This does not prove that it was never confirmed: look it up. */
  | { status: "expired"; reason: string }
  /** Another transaction holds the lease. Look every attempt up, and never sign again because of this. */
  | { status: "leased"; reason: string }
  /** The account cannot pay the fee. Submit the same bytes once it is funded. */
  | { status: "unfunded"; reason: string }
  /** Never acceptable as it is (bad signature, other genesis, …): alert the operator. */
  | { status: "rejected"; reason: string };

/** A transaction's status, as far as it is known now. */
export type TransactionStatus =
  | { state: "confirmed"; round: number }
  /** Not on the ledger yet, and its window is still open or some of its rounds could not be read. */
  | { state: "open" }
  /**
   * Its window has passed, and the ids of every round in it, read from the quorum, lack it: it can never be confirmed.
   */
  | { state: "dead" };

/**
 * Algorand's rounds, read by one shared loop: one wait-for-block-after, each block read once, everything in it
 * confirmed at once.
 */
export interface Rounds {
  /** Returns the latest round that was read completely, 0 before the first. */
  latest(): number;

  /** Returns how many rounds after the latest a node is known to have. */
  behind(): number;

  /** Returns when the latest round was read, in ms of the caller's clock. It shows whether the loop is alive. */
  latestAt(): number;

  /**
   * Whether the latest round is one of the network's newest, by the time in its header. False while our nodes are away
   * or behind, and after a stall of the network.
   */
  isCurrent(): boolean;

  /**
   * Finds a transaction's current status, from the rounds already read and, for older ones, from the nodes.
   * @throws ProviderError when the nodes cannot decide
   */
  status(txid: string, window: Window, signal: AbortSignal): Promise<TransactionStatus>;

  /**
   * Waits until the transaction is confirmed or can no longer be. Rejects with the signal's reason when that comes
   * first.
   */
  settled(txid: string, window: Window, signal: AbortSignal): Promise<Exclude<TransactionStatus, { state: "open" }>>;

  /** Waits for the next round. */
  next(signal: AbortSignal): Promise<number>;

  /**
   * Finds quickly whether any transaction, ours or not, is confirmed by now.
   * @param from the first round that may have it; default: any
   * @param factsOf what the nodes must agree on in addition to the round
   * @returns its round, with the transaction only if a node was asked for it; undefined when no round of caught-up
   *   nodes has it
   * @throws ProviderError when the nodes cannot decide
   */
  find(txid: string, signal: AbortSignal, from?: number, factsOf?: FactsOf): Promise<Location | undefined>;
}

/** The additional properties of a key note's transaction. */
export type SpecialNote = { lastValid: number; keyRecord: Uint8Array };

/** The attestor's account on the ledger, and the ledger as the place of record. */
export interface Ledger {
  /** Base64, 32 bytes. */
  readonly genesisHash: string;
  /** CAIP-2. */
  readonly caip2: string;
  /** The attestor's address. */
  readonly address: string;
  /** microAlgos per attestation while the network is not congested. */
  readonly fee: bigint;
  readonly rounds: Rounds;

  /**
   * Builds and signs a zero-value self-payment with a note.
   * @param note UTF-8, at most 1024 bytes
   * @param lease 32 bytes
   * @param special.lastValid last round in which it may be recorded; default: 100 rounds from now
   * @throws ProviderError when no node gives parameters of this genesis; signer_failed
   */
  sign(note: string, lease: Uint8Array, signal: AbortSignal, special?: SpecialNote): Promise<Attempt>;

  /**
   * Builds and signs the transaction that rekeys the account; its address stays.
   * @param to the other key's own account, 32 bytes
   * @throws as `sign`
   */
  rekey(to: Uint8Array, signal: AbortSignal): Promise<Attempt>;

  /** Prefetches what the next signature needs. It never fails. */
  prepare(signal: AbortSignal): Promise<void>;

  submit(raw: Uint8Array, signal: AbortSignal): Promise<Submission>;

  /**
   * Asks the ledger whether it accepts what the account's key signs.
   * @returns why not, as a sentence; undefined when it does
   * @throws ProviderError
   */
  unavailableReason(signal: AbortSignal): Promise<string | undefined>;

  /**
   * Returns why the network does not accept signatures of the key's kind, as a sentence; undefined when it does.
   * @throws ProviderError
   */
  unknownKey(signal: AbortSignal): Promise<string | undefined>;

  /** Returns the microAlgos that can be spent on fees: balance less minimum balance. @throws ProviderError */
  spendable(signal: AbortSignal): Promise<bigint>;
}
