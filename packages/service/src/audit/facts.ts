import type { Crypto, KeyHistory } from "@attestd/proof";
import type { RefusedJournal } from "../calls/refused.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { Product } from "../subjects/product.ts";
import type { Subject } from "../subjects/subject.ts";
import type { Apart } from "./own-bundle.ts";

/** Heights of a chain, both inclusive: rounds, block numbers or slots. */
export type Span = { from: number; to: number };

/** A transfer of USDC to an address of ours, as its chain shows it. */
export type ChainPayment = {
  readonly rail: RailName;
  /** The payment key (docs/format.md, P); absent for a transfer from which none can be computed. */
  readonly key?: string;
  /** Further keys that this payment alone may use, such as its Algorand group id. */
  readonly aliases: readonly string[];
  /** Transaction id on the payment's chain. */
  readonly transaction: string;
  readonly height: number;
  readonly payer: string;
  /** As the caller spelled it. */
  readonly payTo: string;
  /** micro-USDC; undefined when the transaction moves it in a way that we do not read. */
  readonly amount?: bigint;
  /**
   * Whether someone else than the payer submitted it and paid its fee, as x402's facilitators do. A payment by hand is not
   * relayed.
   */
  readonly relayed: boolean;
};

/** A transaction of the ledger that names the attestor's account. */
export type LedgerNote = {
  readonly txid: string;
  readonly round: number;
  readonly sender: string;
  /** Its note; undefined when it has none, or one that is not UTF-8. */
  readonly note?: string;
  /** Whether it is a payment of nothing that closes and rekeys no account. */
  readonly movesNothing: boolean;
};

/** What the chains show. Everything in it MUST come from within its span, and be all that is there. */
export type Facts = {
  /**
   * Looks up what a row claims and the lists lack: a transaction may exist that an index does not list. MUST read the
   * transaction itself.
   */
  readonly lookAgain?: {
    payments(rail: RailName, transaction: string, payTo: string): Promise<readonly ChainPayment[]>;
    note(txid: string): Promise<LedgerNote | undefined>;
  };
  /** The rounds in which the ledger was read for notes. */
  readonly ledger: Span;
  /** The heights at which each rail was read for payments; a rail that is absent was not read. */
  readonly rails: Readonly<Partial<Record<RailName, Span>>>;
  /** Rails that have payees of ours and could not be read. */
  readonly unread?: readonly RailName[];
  readonly payments: AsyncIterable<ChainPayment> | Iterable<ChainPayment>;
  readonly notes: AsyncIterable<LedgerNote> | Iterable<LedgerNote>;
};

/** What an audit trusts beside the chains and the rows. */
export type Premises = {
  /** Addresses that send our attestations. */
  attestors: ReadonlySet<string>;
  /** Our keys. */
  history: KeyHistory;
  crypto: Crypto;
  /** The present prices in micro-USDC, of whichever rail; earlier prices are in the rows. */
  prices: readonly bigint[];
  /** The note that a call of each kind has to have. */
  products: Readonly<Record<Subject["kind"], Pick<Product, "note">>>;
  /** Of the journal whose rows are audited. */
  apart: Apart;
  refused: RefusedJournal["refused"];
  /** Unix ms. */
  now: number;
  /** The journal's mark, where it was put back from a copy (calls/copied.ts). */
  copiedUntil?: number | undefined;
};

/** Whether a chain was read at a height. */
export function covers(span: Span | undefined, height: number): boolean {
  return span !== undefined && span.from <= height && height <= span.to;
}
