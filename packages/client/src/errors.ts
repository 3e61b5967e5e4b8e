/** An error answer of the service: members of RFC 9457 problem details. */
export type Problem = {
  status: number;
  /** The service's code, e.g. `source_not_found`; `http_<status>` if the answer has none. */
  code: string;
  detail?: string;
  /** From Retry-After (RFC 9110, 10.2.3). */
  retryAfterMs?: number;
  /** Whether the service still works on the payment. If so, send the same one again and sign no other. */
  sameHeader: boolean;
  /** Every item of a batch that cannot be attested. */
  items?: readonly ItemAtFault[];
};

/** An item's index in the request, from 0, and the service's code for why it cannot be attested. */
export type ItemAtFault = { index: number; code: string };

export type AttestErrorCode =
  /** An option is invalid; nothing was sent. */
  | "invalid_option"
  /** No complete answer came, or the service cannot answer now; nothing was signed. */
  | "unreachable"
  /** The answer is not an attestd service's; nothing was signed. */
  | "unexpected_answer"
  /** The wallet can pay none of the offers. */
  | "no_usable_offer"
  /** The cheapest usable offer, plus everything that this call signed before, is `price` and exceeds `maxPrice`. */
  | "price_too_high"
  /** The wallet could not sign; nothing was sent. */
  | "signing_failed"
  /** The vault could not store the signed payment; nothing was sent. */
  | "vault_failed"
  /**
   * The service does not deliver a bundle, and says that it took no money; `problem` has the reason. A payment that was
   * sent stays in the vault; `paymentId` and `until` are then present.
   */
  | "refused"
  /** The service answered the payment with 402. The payment stays in the vault, and no other is signed before `until`. */
  | "not_paid"
  /** The payment was sent, and no bundle came. It is in the vault, and the same call continues with it. */
  | "paid_unfinished"
  /** `save` threw: the payment is still in the vault, and the same call delivers the bundle again. */
  | "save_failed"
  /** The evidence of a bundle is not complete yet: ask again later. */
  | "not_yet"
  /** `signal` ended the call; `paymentId` is present when a payment is in the vault. */
  | "interrupted";

type Details = Pick<AttestError, "problem" | "price" | "paymentId" | "until" | "cause">;

/** Every failure of this package. `message` is one sentence: what happened and, if known, why. */
export class AttestError extends Error {
  readonly code: AttestErrorCode;
  readonly problem?: Problem;
  /** micro-USDC, including what this call has signed before. */
  readonly price?: bigint;
  /** The id of this call's signed payment, when it is still in the vault. */
  readonly paymentId?: string;
  /** When that payment can no longer be taken: ms since 1970, by this device's clock. No other is signed before. */
  readonly until?: number;
  /**
   * micro-USDC of all payments that this call signed and sent; 0 if it only sent an earlier call's. Absent if it sent
   * none: then nothing was paid.
   */
  signed?: bigint;

  constructor(code: AttestErrorCode, message: string, details: Details = {}) {
    super(message, { cause: details.cause });
    this.name = "AttestError";
    this.code = code;
    if (details.problem) this.problem = details.problem;
    if (details.price !== undefined) this.price = details.price;
    if (details.paymentId !== undefined) this.paymentId = details.paymentId;
    if (details.until !== undefined) this.until = details.until;
  }
}
