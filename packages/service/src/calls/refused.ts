/*
 * A facilitator that refuses a payment, or fails while it judges it, has it, and may settle it until it expires. Where no check of ours refused
 * it, we remember what it was brought for: if its chain shows it as made later, whoever brings it again gets that, and nothing
 * else. By then its signature may be public, so that a stranger could bring it for a subject of his own.
 */

/** Refused payments of one payer that are kept, and of all payers: the newest. To sign another costs a payer nothing. */
export const MAX_REFUSED_OF_PAYER = 4;
export const MAX_REFUSED = 10_000;

export type RefusedPayment = {
  readonly key: string;
  readonly payer: string;
  /** `requestHash` of what it was brought for first. */
  readonly subjectHash: string;
};

/** The refused payments of a journal. They promise nothing: no room is kept, and no state follows from them. */
export interface RefusedJournal {
  /**
   * Remembers a refused payment, unless it is remembered already, and forgets those beyond the bounds. A payment that is
   * remembered has no attestation: so it MUST have been unspent after the journal was last looked up for its call, and a
   * journal that is put back from a copy MUST forget them all.
   */
  rememberRefused(payment: RefusedPayment): Promise<void>;

  /** The payment of a key, if it is remembered. */
  refused(key: string): Promise<RefusedPayment | undefined>;
}
