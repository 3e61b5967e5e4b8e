/** How a request ended without a usable answer: its HTTP status, or how it failed. */
export type RequestOutcome = number | "unreachable" | "late" | "too long";

/**
 * How a signer failed. `unreachable`: no connection or answer. `late`: no answer in time. `throttled`: asked too often.
 * `denied`: it refuses us, or the key. `refused`: its rule refuses these bytes. `wrong`: its answer is not a signature
 * by the key.
 */
export type SignerFailure = "unreachable" | "late" | "throttled" | "denied" | "refused" | "wrong";

/** Every code of a ServiceError, with the type of its errors' `details`. */
export type ErrorDetails = {
  /**
   * Settings are missing, wrong or contradictory. One sentence for each fault, with the setting's name and the remedy.
   */
  config_invalid: { faults: readonly string[] };

  /** Upstream nodes could not answer. This says nothing about the subject of the question. */
  providers_unavailable: undefined;
  /** Upstream nodes contradicted one another. */
  providers_conflict: undefined;
  /** The cause of `providers_unavailable` for a request without an answer. */
  upstream_unanswered: { ending: RequestOutcome };
  /** The circuit breaker is open after repeated failures, and nothing was sent. */
  breaker_open: undefined;
  /**
   * A node answered with a JSON-RPC error: it lacks the method or the data, or refuses the call. `rpcCode`: JSON-RPC
   * 2.0 section 5.1, EIP-1474; of Solana: agave's rpc-client-api, custom_error.rs.
   */
  rpc_refused: { rpcCode: number };
  /**
   * The cause of `providers_unavailable` for a node that lacks a block, or a part of it, that its URL has shown before;
   * and for nodes that all answered while some lag behind the others.
   */
  block_unknown: undefined;

  /** Enough caught-up providers have no such transaction. */
  source_not_found: undefined;
  /** Enough caught-up providers have no block at this height yet. */
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
  /** The transactions of one request together have too many bytes; `txnIds`: the largest ones. */
  sources_too_large: { txnIds: readonly string[] };
  /** A node gave a state proof that does not verify. */
  proof_unsound: undefined;
  /** The block's header has no tree of its transactions. */
  source_unprovable: undefined;
  /**
   * The members of a request are well formed but do not fit together; `member` is at fault, `more` are further members
   * at fault.
   */
  request_unfit: { member: string; more?: readonly { member: string; message: string }[] };

  /** A rail refuses a payment (payment/refusal.ts). The message is the `error` of a 402; it never reveals chain state. */
  payment_refused: undefined;
  /**
   * The facilitator could not be asked, or its answer could not be read. This says nothing about the payment. `ending`:
   * the HTTP status of an answer without a verdict, or how the request ended without an answer. `retryAfterMs`: how
   * long it asked us to wait.
   */
  facilitator_failed: { ending: RequestOutcome | "unreadable"; retryAfterMs?: number | undefined };
  /** Nothing can be sold on the payment's rail now. The message tells the payer why. */
  rail_closed: undefined;
  /** The facilitator answers, and does not settle on the rail: the setting is wrong, or has become wrong. */
  settlement_unsupported: undefined;

  /** Another writer moved the call since it was read: read it again. */
  call_stale: undefined;
  /** The notice that announced a new call to other replicas has lapsed: they may have refused its payment. */
  expectation_lost: undefined;
  /** The journal has its maximum of notices of payments that are being checked. */
  journal_busy: undefined;
  /** The journal lacks commits that it had confirmed to this replica: an earlier state of it was restored. */
  journal_behind: undefined;
  /** A row of the journal, or a part that is stored apart from it, differs from what was written. */
  journal_damaged: undefined;
  /** A transition gives a call a name that another call already has. */
  name_taken: undefined;
  /** The call's state does not allow the event. This is a defect, or another process has moved the row. */
  transition_illegal: undefined;

  /** An argument of an operator's command is missing, or matches nothing or several things. */
  argument_invalid: undefined;
  /** The chain does not show what an operator's command needs. */
  not_on_chain: undefined;
  /** The state of the journal or the ledger forbids an operator's command. */
  not_allowed: undefined;
  /** Another process has the journal open, and a change of the keys needs it alone. */
  journal_in_use: undefined;
  /** Paid calls are attested with the current key and not delivered yet. */
  calls_unfinished: undefined;
  /** The attestor's account cannot pay for a note. */
  attestor_unfunded: undefined;

  /**
   * Something about this call, or about its payment or attestation on a chain, prevents its next step; other calls may
   * continue.
   */
  call_held_up: undefined;

  /** A signer gave no valid signature, so nothing was signed. */
  signer_failed: { failure: SignerFailure };
};

export type ServiceErrorCode = keyof ErrorDetails;

type Options<C extends ServiceErrorCode> = undefined extends ErrorDetails[C]
  ? [options?: ErrorOptions & { details?: ErrorDetails[C] }]
  : [options: ErrorOptions & { details: ErrorDetails[C] }];

/** Every error of this package except `Problem`, which a caller of the service gets. `@throws` names its code. */
export class ServiceError<C extends ServiceErrorCode = ServiceErrorCode> extends Error {
  override readonly name = "ServiceError";
  readonly code: C;
  readonly details: ErrorDetails[C];

  constructor(code: C, message: string, ...[options]: Options<C>) {
    super(message, options);
    this.code = code;
    // Absent only if the code has no details, because `Options` requires them.
    this.details = options?.details as ErrorDetails[C];
  }
}

/** Whether an error is a ServiceError with one of these codes. */
export function hasCode<C extends ServiceErrorCode>(error: unknown, ...codes: readonly C[]): error is ServiceError<C> {
  return error instanceof ServiceError && codes.some((code) => code === error.code);
}

/** Makes a handler for `catch` that returns undefined for an expected error and throws any other. */
export function ignoring(isExpected: (error: unknown) => unknown): (error: unknown) => undefined {
  return (error) => {
    if (!isExpected(error)) throw error;
  };
}
