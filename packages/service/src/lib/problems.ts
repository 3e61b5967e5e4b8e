import { excerpt } from "@attestd/proof/text";
import { currentContext } from "../observe/tracing/context.ts";
import { hasCode, ServiceError, type ServiceErrorCode } from "./errors.ts";

const NOT_CHARGED = "Nothing was charged.";
const NOTIFIED = `The operator has been notified. ${NOT_CHARGED}`;
const REPEAT = `Repeat after \`Retry-After\`. ${NOT_CHARGED}`;
const REPEAT_PAYMENT = "Do not sign again. Repeat the request with the same PAYMENT-SIGNATURE after `Retry-After`.";

/** Every problem: its stable code, HTTP status, title, and advice to the caller. */
export const PROBLEMS = {
  body_not_json: [
    400,
    "The body is not strict JSON",
    "Send one JSON value: no duplicate keys, at most 16 deep, at most 1,024 members and items (a bundle: 4,096; a batch's request: 3,002).",
  ],
  body_invalid: [400, "The body does not fit its schema", "`errors` names each wrong member and what it must be."],
  query_invalid: [400, "A query parameter is invalid", "`detail` names the parameter and its allowed values."],
  payment_malformed: [
    400,
    "The payment cannot be decoded",
    "PAYMENT-SIGNATURE is base64 of a JSON object with `x402Version`, `accepted` and `payload`.",
  ],
  payment_without_body: [
    400,
    "A payment came without a body",
    "Repeat the request with its body and the same PAYMENT-SIGNATURE. Nothing was charged.",
  ],
  source_inner_transaction: [
    400,
    "An inner transaction cannot be attested",
    "It has no bytes of its own and is not a leaf of its block's tree. Name `rootId`, the transaction that contains it. Nothing was charged.",
  ],
  source_wrong_chain: [
    400,
    "The source belongs to another chain",
    "Only the configured chains are attested. Nothing was charged.",
  ],
  source_unprovable: [
    400,
    "The block has no tree of transactions",
    "A proof of inclusion needs a tree in the block's header, which this block does not have (Algorand before consensus v26). The transaction and the block can be attested. Nothing was charged.",
  ],
  source_too_large: [
    400,
    "The bundle would exceed 2 MiB",
    "The transactions of a batch of n may have 256 KiB and n times 4 KiB in all: attest the largest ones alone. Nothing was charged.",
  ],
  bundle_rejected: [400, "The bundle is not verified", "`report` names each failed check."],
  request_malformed: [400, "The request is invalid HTTP", "The connection is closed. No part of the request was read."],
  not_found: [404, "No such resource", "`/llms.txt` lists what there is."],
  source_not_found: [404, "No such transaction", "The indexer has no transaction with this id. Nothing was charged."],
  source_not_kept: [
    404,
    "Too few nodes keep this block",
    "The configured nodes have discarded the block, or too few of them keep it to agree on it. A repeat gets the same answer. Nothing was charged.",
  ],
  source_elsewhere: [
    404,
    "The transaction is in another block",
    "`height` is its block's height. Nothing was charged.",
  ],
  block_not_found: [404, "No such block", "The chain has no block of this height yet. Nothing was charged."],
  record_not_found: [
    404,
    "Not found on the chain",
    "The bundle is valid offline, but the indexer has no matching transaction; `report` says which.",
  ],
  method_not_allowed: [405, "The method is not allowed here", "`Allow` names the methods."],
  request_timeout: [
    408,
    "The request did not arrive in time",
    "Headers must arrive within 10 seconds, the whole request within 30. Send it again; a payment in it was not read.",
  ],
  payment_bound_to_other_request: [
    409,
    "The payment was used for another request",
    "One payment buys one thing. Send the request for which it was first used, or make a new payment.",
  ],
  source_not_final: [409, "The source is not final yet", REPEAT],
  transaction_failed: [
    409,
    "The transaction failed",
    "The request has `require: succeeded`, and the transaction failed in its block. Nothing was charged. Without `require` it is attested as failed.",
  ],
  payment_refunded: [410, "The payment was refunded", "The operator paid it back. Make a new payment to buy again."],
  body_too_large: [
    413,
    "The body is too large",
    "A bundle may have 2 MiB, a batch's request 256 KB, any other body 64 KB; `_meta` over MCP and `metadata` over A2A 16 KB.",
  ],
  media_type: [
    415,
    "The body is not plain application/json",
    "Send `Content-Type: application/json`, and no `Content-Encoding`: compressed bodies are not accepted.",
  ],
  too_many_requests: [429, "Too many requests", "Repeat after `Retry-After`."],
  headers_too_large: [
    431,
    "The headers are too large",
    "All headers together may have 16 KB. No part of the request was read, and nothing was charged.",
  ],
  internal: [
    500,
    "The service failed",
    "The failure has been logged. A payment already sent is safe: repeat the request with the same PAYMENT-SIGNATURE.",
  ],
  settlement_pending: [503, "The payment is being settled", REPEAT_PAYMENT],
  attestation_pending: [503, "Paid, not recorded yet", REPEAT_PAYMENT],
  payment_unaccounted: [
    503,
    "The chain shows this payment, our journal does not",
    "Do not pay again. The operator has been notified and can bind it to its request.",
  ],
  payment_unknown: [503, "It is not known whether this payment was spent", REPEAT_PAYMENT],
  source_reading: [
    503,
    "The batch is still being read",
    "Reading takes longer than one request may, and continues. Send the same request again, with the same PAYMENT-SIGNATURE, after `Retry-After`. Nothing was charged.",
  ],
  providers_unavailable: [503, "The chain cannot be read now", REPEAT],
  providers_conflict: [
    503,
    "The chain's providers contradict one another",
    "Nothing is attested until they agree. Nothing was charged.",
  ],
  facilitator_unavailable: [503, "The facilitator cannot be reached", REPEAT],
  over_capacity: [503, "Too many requests are in progress", REPEAT],
  attestor_unfunded: [503, "The attestor cannot pay ledger fees", NOTIFIED],
  attestor_key_unusable: [
    503,
    "The attestor's key may no longer sign",
    "It was replaced or revoked, or the key history lacks a change that the ledger has; the operator has been notified. Nothing was charged.",
  ],
  signer_unavailable: [503, "The attestor cannot sign now", NOTIFIED],
  journal_unavailable: [503, "The journal does not answer", NOTIFIED],
  clock_wrong: [503, "The service's clock is wrong", NOTIFIED],
  disk_low: [503, "The journal is short of disk space", NOTIFIED],
  stopping: [503, "The service is stopping", REPEAT],
} as const satisfies Record<string, readonly [status: number, title: string, advice: string]>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Whether a problem says that nothing was charged. */
export function saysUncharged(code: ProblemCode): boolean {
  return PROBLEMS[code][2].includes(NOT_CHARGED);
}

export type ProblemOptions = {
  /** Seconds. */
  retryAfter?: number;
  /** Members of the problem document besides the standard ones (RFC 9457, section 3.2). */
  members?: Record<string, unknown>;
  cause?: unknown;
};

/** The limit of a detail, which may quote a caller or an upstream, in characters. */
const MAX_DETAIL = 1000;

/** An answer other than success. Each transport formats it. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly retryAfter?: number;
  readonly members: Record<string, unknown>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(excerpt(detail, MAX_DETAIL), { cause: options.cause });
    this.name = "Problem";
    this.code = code;
    this.status = PROBLEMS[code][0];
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter;
    this.members = options.members ?? {};
  }

  /** Returns the problem document (RFC 9457) for the current request. @param origin of this service, for the links */
  toJSON(origin: string): Record<string, unknown> {
    const requestId = currentContext()?.requestId;
    return {
      type: `${origin}/problems/${this.code}`,
      title: PROBLEMS[this.code][1],
      status: this.status,
      detail: this.message,
      code: this.code,
      ...(requestId !== undefined && { requestId }),
      ...this.members,
    };
  }
}

/** The member of a problem while money may have moved: the client may repeat the same header, and MUST NOT sign anew. */
export const SAME_HEADER = { retry: { sameHeader: true } };

/** The problem of an error. `detail`: by default the error's own message. */
type AnswerTo = { code: ProblemCode; detail?: string; retryAfter?: number; members?: Record<string, unknown> };

const CHAIN_UNREAD = { detail: "The chain cannot be read now.", retryAfter: 10 };

/**
 * The errors that answer a request, each with its problem. They are thrown before anything is charged; where a payment
 * may have been made, the caller of the throwing part says so itself. Every other error is a failure of the service.
 */
const ANSWERS: { readonly [C in ServiceErrorCode]?: AnswerTo } = {
  source_not_found: { code: "source_not_found" },
  block_not_found: { code: "block_not_found" },
  source_inner_transaction: { code: "source_inner_transaction" },
  source_wrong_chain: { code: "source_wrong_chain" },
  source_not_kept: { code: "source_not_kept" },
  source_unprovable: { code: "source_unprovable" },
  source_unreadable: { code: "providers_conflict", retryAfter: 30 },
  providers_unavailable: { code: "providers_unavailable", ...CHAIN_UNREAD },
  providers_conflict: { code: "providers_conflict", ...CHAIN_UNREAD },
  rail_closed: { code: "facilitator_unavailable", retryAfter: 10 },
  facilitator_failed: {
    code: "facilitator_unavailable",
    detail: "The facilitator cannot be reached now.",
    retryAfter: 10,
  },
  journal_busy: { code: "over_capacity", detail: "Too many payments are being checked.", retryAfter: 5 },
  expectation_lost: {
    code: "payment_unknown",
    detail: "The connection to the journal broke while the payment was being checked.",
    retryAfter: 10,
    members: SAME_HEADER,
  },
};

/**
 * Returns the problem that answers an error; undefined for a failure of the service.
 * @param over replaces members of the table's row
 */
export function problemFor(error: unknown, over: Pick<AnswerTo, "detail" | "retryAfter"> = {}): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof ServiceError)) return undefined;
  const row = ANSWERS[error.code as ServiceErrorCode];
  if (!row) return undefined;
  const { code, detail = error.message, retryAfter, members } = { ...row, ...over };
  const askedMs = hasCode(error, "facilitator_failed") ? (error.details.retryAfterMs ?? 0) : 0;
  return new Problem(code, detail, {
    ...(retryAfter !== undefined && { retryAfter: Math.max(retryAfter, Math.ceil(askedMs / 1000)) }),
    members: hasCode(error, "source_inner_transaction") ? error.details : (members ?? {}),
    cause: error,
  });
}
