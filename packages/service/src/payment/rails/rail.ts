import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";

export type RailName = "algorand" | "base" | "solana";

/**
 * A payment that cannot be accepted; `message` says why, for the `error` of a 402.
 *
 * It tells about the payload alone, never about what the chain holds.
 */
export class PaymentRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PaymentRefused";
  }
}

/** A payload read by us, before anything about it is believed. */
export type Payment = {
  readonly rail: RailName;
  /** The payment key (docs/format.md, P). */
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
  /** The scheme's own part as a facilitator gets it: what we have read of it, in canonical spelling, and nothing more. */
  readonly wire: PaymentPayload["payload"];
};

/** What the payment's chain shows about it now. */
export type PaymentStanding =
  /** Spent on us, to the depth that counts as paid; `final` when no reorganisation can undo it any more. */
  | { state: "paid"; transaction: string; height: number; final: boolean }
  /** Can never be spent on us any more: expired unspent, cancelled, or spent elsewhere. */
  | { state: "void"; reason: string }
  /** Neither: it may still be settled. */
  | { state: "open" };

/**
 * Nodes of a payment's chain that have to agree before it counts as void, where there are so many: after that its payer is
 * asked for another, and one node alone may be behind, or lie.
 */
export const VOID_WITNESSES = 2;

/**
 * A way to pay.
 *
 * `read` gives a payment its key; until `signature` has said `valid` (or `onChain` has confirmed it), nothing in it may
 * be believed or written. `standing` asks the chain and MUST NOT believe the facilitator.
 */
export interface Rail<P extends Payment = Payment> {
  readonly name: RailName;
  /** CAIP-2, as stock clients know it. */
  readonly network: string;
  readonly asset: string;
  /** What scheme `exact` adds to every offer on this rail, beside the facilitator's fee payer. */
  readonly extra: Readonly<Record<string, string>>;

  /** Whether no payment can be made without a fee payer that its facilitator names. */
  readonly needsFeePayer?: boolean;

  /** Whether `network` of a client's `accepted` names this rail, in any spelling that clients use. */
  isNetwork(network: string): boolean;

  /** Whether two spellings name one address. */
  sameAddress(a: string, b: string): boolean;

  /**
   * Reads the scheme's own part of a payload.
   *
   * @throws PaymentRefused when no payment key can be made of it
   */
  read(payload: PaymentPayload): P;

  /**
   * Checks the payer's signature without asking anyone; `on_chain` when it may be the payer's, and only the chain can tell.
   */
  signature(payment: P): Promise<"valid" | "invalid" | "on_chain">;

  /**
   * Has the chain check a signature of which `signature` said `on_chain`: whether it accepts it now, or once has, in the
   * transaction by which this payment was made. Nothing but the payer's own signature may get a yes.
   *
   * @throws ProviderError
   */
  onChain(payment: P, signal: AbortSignal): Promise<boolean>;

  /**
   * Our own checks of what neither time nor an offer changes: the layout of scheme `exact`, the asset, and the account
   * that the money leaves. What does not pass was never taken by us, so that nobody looks for it on its chain.
   *
   * @throws PaymentRefused
   */
  checkLayout(payment: P): Promise<void>;

  /**
   * Our own checks of every field: those of `checkLayout`, then against the time and the requirement that is going to be
   * settled.
   *
   * @throws PaymentRefused
   */
  check(payment: P, requirement: PaymentRequirements): Promise<void>;

  /**
   * Why a payee cannot be paid now: a clause of which it is the subject. Undefined when it can.
   *
   * @throws ProviderError when it cannot be told
   */
  payeeFault(payTo: string, signal: AbortSignal): Promise<string | undefined>;

  /** What the payer holds of the asset now, in atomic units. @throws ProviderError when it cannot be told */
  balance(payment: P, signal: AbortSignal): Promise<bigint>;

  /** Tells where the payment stands on its chain. @throws ProviderError when it cannot be told */
  standing(payment: P, signal: AbortSignal): Promise<PaymentStanding>;

  /** Whether the payment has been spent on its payee by now. @throws ProviderError when it cannot be told */
  spent(payment: P, signal: AbortSignal): Promise<boolean>;

  /** Waits until `standing` may have changed: a round, a block, a moment. */
  news(signal: AbortSignal): Promise<void>;
}
