/** How a request ended without an answer that counts: the HTTP status that it got, or how it failed. */
export type Ending = number | "unreachable" | "late" | "too long";

/**
 * How a signer failed: no connection or answer; no answer in time; asked too often; it refuses us, or the key; it refuses
 * these bytes by its rule; its answer is not a signature under the key.
 */
export type SignerFailure = "unreachable" | "late" | "throttled" | "denied" | "refused" | "wrong";

/** Every code of a ServiceError, with the type of the `details` that its errors carry. */
export type ErrorDetails = {
  /** Settings are missing, wrong or contradictory: one sentence for each fault, with its name and the remedy. */
  config_invalid: { faults: readonly string[] };

  /** Upstream nodes could not answer. This says nothing about the subject of the question. */
  providers_unavailable: undefined;
  /** Upstream nodes contradicted one another. */
  providers_conflict: undefined;
  /** The cause of `providers_unavailable` of a request that had no answer. */
  upstream_unanswered: { ending: Ending };
  /** The circuit breaker is open after repeated failures: nothing was sent. */
  breaker_open: undefined;
  /**
   * A node answered with a JSON-RPC error: it lacks the method or the data, or refuses the call. `rpcCode`: JSON-RPC
   * 2.0 section 5.1, EIP-1474; of Solana: agave's rpc-client-api, custom_error.rs.
   */
  rpc_refused: { rpcCode: number };
  /**
   * The cause of `providers_unavailable` of a node that lacks a block, or part of it, that its URL has shown before; and of nodes
   * that all answered, and of which some lag behind the others.
   */
  block_unknown: undefined;

  /** As many caught-up providers as are needed have no such transaction. */
  source_not_found: undefined;
  /** As many caught-up providers as are needed have no block of this height yet. */
  block_not_found: undefined;
  /** An inner transaction has no bytes of its own; `rootId` is the transaction that can be attested. */
  source_inner_transaction: { rootId: string };
  /** The source names another chain than the configured ones. */
  source_wrong_chain: undefined;
  /** Found, but no provider gave bytes that hash to the id. */
  source_unreadable: undefined;
  /** Every provider answered, and none keeps the block any more. */
  source_not_kept: undefined;
  /** No state proof will ever attest the round of the record. */
  evidence_impossible: undefined;
  /** The transactions that one request asks for have too many bytes together; `txnIds`: of those with the most. */
  sources_too_large: { txnIds: readonly string[] };
  /** A node gave a state proof that does not verify. */
  proof_unsound: undefined;
  /** The block commits to its transactions by no tree. */
  source_unprovable: undefined;
  /** The members of a request are well formed but do not go together; `member` is the one at fault, `more` are further ones. */
  request_unfit: { member: string; more?: readonly { member: string; message: string }[] };

  /**
   * A payment cannot be accepted. The message is the `error` of a 402; it never reveals chain state. `byFacilitator`: no check
   * of ours refuses it, so that a facilitator could still settle it.
   */
  payment_refused: { byFacilitator: true } | undefined;
  /**
   * The facilitator could not be asked, or its answer could not be read. This says nothing about the payment. `ending`:
   * the HTTP status of an answer without a verdict, or how the request ended without an answer. `retryAfterMs`: how long it
   * asked us to wait.
   */
  facilitator_failed: { ending: Ending | "unreadable"; retryAfterMs?: number };
  /** Nothing can be sold on the payment's rail now. The message says why, to the payer too. */
  rail_closed: undefined;
  /** The facilitator answers, and does not settle the rail: the setting is wrong, or has become wrong. */
  settlement_unsupported: undefined;

  /** Another writer moved the call since it was read: read it again. */
  call_stale: undefined;
  /** The notice to other replicas of a call that was to be inserted has lapsed: they may have refused its payment. */
  expectation_lost: undefined;
  /** The journal has as many notices of payments that are being checked as it can hold. */
  journal_busy: undefined;
  /** The journal lacks commits that it had confirmed to this replica: an earlier state of it was put in its place. */
  journal_behind: undefined;
  /** A transition gives a call a name that another call has. */
  name_taken: undefined;
  /** The call's state does not allow the event: a defect, or a row that another process has moved. */
  transition_illegal: undefined;

  /** An argument of an operator's command is missing, or names nothing or more than one thing. */
  argument_invalid: undefined;
  /** The chain does not show what an operator's command needs. */
  not_on_chain: undefined;
  /** The state of the journal or the ledger forbids an operator's command. */
  not_allowed: undefined;
  /** Another process has the journal open, and a change of the keys needs it alone. */
  journal_in_use: undefined;
  /** Paid calls are attested under the current key and not delivered yet. */
  calls_unfinished: undefined;
  /** The attestor's account cannot pay for a note. */
  attestor_unfunded: undefined;

  /** What a call itself says or has on its chains prevents its next step; other calls may go on. */
  call_held_up: undefined;

  /** A signer gave no signature that fits, so that nothing was signed. */
  signer_failed: { failure: SignerFailure };
};

export type ServiceErrorCode = keyof ErrorDetails;

type Options<C extends ServiceErrorCode> = undefined extends ErrorDetails[C]
  ? [options?: ErrorOptions & { details?: ErrorDetails[C] }]
  : [options: ErrorOptions & { details: ErrorDetails[C] }];

/** Every error of this package but `Problem`, which is what a caller of the service gets. `@throws` names its code. */
export class ServiceError<C extends ServiceErrorCode = ServiceErrorCode> extends Error {
  override readonly name = "ServiceError";
  readonly code: C;
  readonly details: ErrorDetails[C];

  constructor(code: C, message: string, ...[options]: Options<C>) {
    super(message, options);
    this.code = code;
    // Absent only where the code has none: `Options` asks for them.
    this.details = options?.details as ErrorDetails[C];
  }
}

/** Whether an error is a ServiceError with one of these codes. */
export function hasCode<C extends ServiceErrorCode>(error: unknown, ...codes: readonly C[]): error is ServiceError<C> {
  return error instanceof ServiceError && codes.some((code) => code === error.code);
}

/** Makes a handler for `catch`: it returns undefined for an expected error, and throws any other. */
export function ignoring(isExpected: (error: unknown) => unknown): (error: unknown) => undefined {
  return (error) => {
    if (!isExpected(error)) throw error;
  };
}
