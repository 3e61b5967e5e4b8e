import type { Crypto, KeyHistory } from "@attestd/proof";
import type { RefusedJournal } from "../calls/refused.ts";
import type { LedgerNote } from "../ledger/search.ts";
import type { ChainPayment } from "../payment/rails/payment-reader.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { Span } from "../providers/reading.ts";
import type { Product } from "../subjects/product.ts";
import type { Subject } from "../subjects/subject.ts";
import type { Apart } from "./own-bundle.ts";

/** The data of the chains. It MUST be complete within each span, and contain nothing from outside. */
export type Facts = {
  /**
   * Looks up what a row claims and the lists lack, because an index may not list a transaction that exists. MUST read
   * the transaction itself.
   */
  readonly lookAgain?: {
    payments(rail: RailName, transaction: string, payTo: string): Promise<readonly ChainPayment[]>;
    note(txid: string): Promise<LedgerNote | undefined>;
  };
  /** The rounds in which the ledger was read for notes. */
  readonly ledger: Span;
  /** The heights at which each rail was read for payments; an absent rail was not read. */
  readonly rails: Readonly<Partial<Record<RailName, Span>>>;
  /** Rails on which we have payees, and which could not be read. */
  readonly unread?: readonly RailName[];
  readonly payments: AsyncIterable<ChainPayment> | Iterable<ChainPayment>;
  readonly notes: AsyncIterable<LedgerNote> | Iterable<LedgerNote>;
};

/** What an audit trusts in addition to the chains and the rows. */
export type Premises = {
  /** Addresses that send our attestations. */
  attestors: ReadonlySet<string>;
  /** Our keys. */
  history: KeyHistory;
  crypto: Crypto;
  /** The current prices in micro-USDC, on all rails; rows have earlier prices. */
  prices: readonly bigint[];
  /** Computes the note that a call of each kind must have. */
  products: Readonly<Record<Subject["kind"], Pick<Product, "note">>>;
  /** Reads large data of the audited journal, which is stored apart from the rows. */
  apart: Apart;
  refused: RefusedJournal["refused"];
  /** Now, Unix ms. */
  now: number;
  /** The mark of a journal that was restored from a copy (calls/copied.ts). */
  copiedUntil?: number | undefined;
};

/** Whether a chain was read at a height. */
export function covers(span: Span | undefined, height: number): boolean {
  return span !== undefined && span.from <= height && height <= span.to;
}
