import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ServiceError } from "../../lib/errors.ts";

/** A rail's name in the registry, the journal, settings (`[rails.<name>]`) and logs. */
export type RailName = string;

export type PaymentRefused = ServiceError<"payment_refused">;

/** @param message the reason, for the `error` of a 402; it MUST NOT reveal chain state */
export function paymentRefused(message: string): PaymentRefused {
  return new ServiceError("payment_refused", message);
}

/** A payload that was read, and not verified yet. */
export type Payment = {
  readonly rail: RailName;
  /** The payment key (docs/format.md): the same for every spelling of one payment. */
  readonly key: string;
  /** Further keys that only this payment may use. */
  readonly aliases: readonly string[];
  readonly payer: string;
  readonly payTo: string;
  /** Atomic units of the asset. */
  readonly amount: bigint;
  readonly asset: string;
  /** As the client sent it. */
  readonly payload: PaymentPayload;
  /** The scheme's own part in the form for a facilitator: only the members that were read, in canonical spelling. */
  readonly wire: PaymentPayload["payload"];
};

/** A payment's status, as its chain shows it now. */
export type PaymentStatus =
  /** Paid to us, deep enough to count; `final` when no reorganisation can undo it any more. */
  | { state: "paid"; transaction: string; height: number; final: boolean }
  /** Can never be paid to us any more: it expired unspent, was cancelled, or was spent elsewhere. */
  | { state: "void"; reason: string }
  /** Neither: it may still be settled. */
  | { state: "open" };

/**
 * The number of nodes that must agree before a payment counts as void, if that many are configured. After a void the
 * payer signs another payment, and a single node may lag or lie.
 */
export const VOID_WITNESSES = 2;

/** The static properties of a rail: no node is asked for them. */
export type RailFacts = {
  readonly name: RailName;
  /** CAIP-2, as in stock clients. */
  readonly network: string;
  /** The network's name in our own `options`, if it is not the CAIP-2 name. */
  readonly optionNetwork?: string;
  readonly asset: string;
  /** Whether only `llms.txt` and a 402 list the rail, and no other document. */
  readonly isUnlisted?: boolean;
  /** Whether a payment must name a fee payer from the facilitator. */
  readonly needsFeePayer?: boolean;

  /**
   * Whether any facilitator may settle a payment, and another one after the first. It is so if the chain accepts a
   * payment at most once and the payment names no fee payer. Otherwise a payment is bound to the facilitator whose fee
   * payer it names.
   */
  readonly isForAnyFacilitator?: boolean;

  /** Whether an attestation of a source on that chain may be paid on this rail. */
  paysFor(source: string): boolean;

  /** Whether two spellings name one address. */
  sameAddress(a: string, b: string): boolean;
};

/**
 * What a wallet without its own node needs before it signs: a page asks us, so that it need not connect to anyone else.
 * None of it is believed when the payment comes.
 */
export type WalletHelp = {
  /** Returns what a transaction must contain to be valid now, as the kind's `wallets` describes. */
  now(signal: AbortSignal): Promise<object>;

  /** Whether a text is an address of the chain. */
  isAddress(text: string): boolean;

  /** Returns an address's USDC, in micro-USDC; undefined if it has no account for USDC. */
  holding(address: string, signal: AbortSignal): Promise<bigint | undefined>;
};

/** What an offer tells a payer. */
export interface OfferedRail extends RailFacts {
  /** What scheme `exact` adds to every offer on this rail, besides the facilitator's fee payer. */
  readonly extra: Readonly<Record<string, string>>;

  /** Absent if wallets have their own nodes. */
  readonly wallets?: WalletHelp;

  /** Whether a network is this rail's, in any spelling that clients and facilitators use. */
  isNetwork(network: string): boolean;
}

/** Reads payments of scheme `exact`. */
export interface PaymentForm<P extends Payment = Payment> {
  /**
   * Reads the scheme's own part of a payload.
   *
   * @throws payment_refused when it has no payment key
   */
  read(payload: PaymentPayload): P;
}

/**
 * What admission asks before a call begins. Until `signature` returns `valid`, or `onChain` returns true, nothing in a
 * payment may be believed or written.
 */
export interface AdmissionRail<P extends Payment = Payment> extends OfferedRail, PaymentForm<P> {
  /** Checks the payer's signature offline; `on_chain` when only the chain can decide. */
  signature(payment: P): Promise<"valid" | "invalid" | "on_chain">;

  /**
   * Asks the chain about a signature for which `signature` returned `on_chain`: whether the chain accepts it now, or
   * accepted it in the transaction that made this payment. Only the payer's own signature may pass.
   * @throws ProviderError
   */
  onChain(payment: P, signal: AbortSignal): Promise<boolean>;

  /**
   * Checks what neither time nor an offer changes: the layout of scheme `exact`, the asset and the payer's account. We
   * never accepted a payment that fails this, so its chain is not searched for it.
   * @throws payment_refused
   */
  checkLayout(payment: P): Promise<void>;

  /**
   * Checks every field: like `checkLayout`, then against the time and the requirement that will be settled. May wait
   * some seconds for our own nodes to reach the payer's round or block.
   * @throws payment_refused; ProviderError when our nodes are too far behind to judge the payment
   */
  check(payment: P, requirement: PaymentRequirements, signal: AbortSignal): Promise<void>;

  /**
   * Reads the payer's current balance of the asset, in atomic units. @throws ProviderError when the chain cannot be
   * read
   */
  balance(payment: P, signal: AbortSignal): Promise<bigint>;

  /** Whether the payment has been spent on its payee by now. @throws ProviderError when the chain cannot be read */
  spent(payment: P, signal: AbortSignal): Promise<boolean>;
}

/** What the runner of a call asks. `status` asks the chain and MUST NOT believe the facilitator. */
export interface SettlementRail<P extends Payment = Payment>
  extends Pick<RailFacts, "isForAnyFacilitator">,
    PaymentForm<P> {
  /**
   * Reads the payment's status from its chain.
   * @param hint a transaction that may contain the payment, as the facilitator says: looked at first, and never
   *   believed
   * @throws ProviderError when the chain cannot be read
   */
  status(payment: P, signal: AbortSignal, hint?: string): Promise<PaymentStatus>;

  /** Waits until `status` may have changed: for a round, a block or a moment. */
  news(signal: AbortSignal): Promise<void>;
}

/** What the watch on payees asks. */
export interface PayeeRail extends Pick<RailFacts, "name"> {
  /**
   * Returns why a payee cannot be paid now: a clause with the payee as its subject; undefined when it can be paid.
   * @throws ProviderError when the chain cannot be read
   */
  payeeFault(payTo: string, signal: AbortSignal): Promise<string | undefined>;
}

/** An open rail. */
export interface Rail<P extends Payment = Payment> extends AdmissionRail<P>, SettlementRail<P>, PayeeRail {}
