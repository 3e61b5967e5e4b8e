/** An error answer of the service: RFC 9457 problem details, reduced to what a payer can act on. */
export type Problem = {
  status: number;
  /** The service's stable code, e.g. `source_not_found`; `http_<status>` where the answer names none. */
  code: string;
  detail?: string;
  /** From Retry-After (RFC 9110, 10.2.3). */
  retryAfterMs?: number;
  /** The service says that the payment sent is being worked on: send it again, sign no other. */
  sameHeader: boolean;
};

export type AttestErrorCode =
  /** An option makes no sense; nothing was sent. */
  | "invalid_option"
  /** The service could not be asked; nothing was signed. */
  | "unreachable"
  /** Something answered, but not as an attestd service does; nothing was signed. */
  | "unexpected_answer"
  /** The wallet can pay none of the offers. */
  | "no_usable_offer"
  /** The cheapest usable offer is above `maxPrice`; `price` tells it. */
  | "price_too_high"
  /** The wallet could not sign; nothing was sent. */
  | "signing_failed"
  /** The vault could not store the signed payment; nothing was sent. */
  | "vault_failed"
  /** The service took no money and will give no bundle; `problem` tells why. The payment stays in the vault. */
  | "refused"
  /** The service answered the payment with 402: it is void, and out of the vault. */
  | "not_paid"
  /** The payment was sent, and no bundle came: it is in the vault, and the same call takes it up again. */
  | "paid_unfinished"
  /** `save` threw: the bundle was delivered, the payment is still in the vault, and the same call delivers it again. */
  | "save_failed"
  /** `signal` ended the call; `paymentId` tells whether there is a payment to take up again. */
  | "interrupted";

export type AttestErrorDetails = {
  problem?: Problem;
  /** micro-USDC. */
  price?: bigint;
  /** The id under which the vault still holds a signed payment of this call. */
  paymentId?: string;
  cause?: unknown;
};

/** Every failure of a purchase. `message` is one sentence: what happened and, where known, why. */
export class AttestError extends Error {
  readonly code: AttestErrorCode;
  readonly problem?: Problem;
  readonly price?: bigint;
  readonly paymentId?: string;

  constructor(code: AttestErrorCode, message: string, details: AttestErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = "AttestError";
    this.code = code;
    if (details.problem) this.problem = details.problem;
    if (details.price !== undefined) this.price = details.price;
    if (details.paymentId !== undefined) this.paymentId = details.paymentId;
  }
}
