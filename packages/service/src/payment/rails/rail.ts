import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { SourceChainKind } from "../../chains/chain-kind.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { RailVariables } from "../../config/rails.ts";
import { ServiceError } from "../../errors.ts";
import type { Examination, Finding } from "../../health/finding.ts";
import type { Rounds } from "../../ledger/ledger.ts";
import type { LedgerReading } from "../../ledger/search.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import type { QuorumRules } from "../../providers/quorum.ts";
import type { Ask } from "../../providers/reading.ts";
import type { PaymentReader } from "./payment-reader.ts";

/** A rail's name in the registry, the journal, settings (`PAY_TO_<NAME>`) and logs. */
export type RailName = string;

export type PaymentRefused = ServiceError<"payment_refused">;

/** @param message the reason, for the `error` of a 402; it MUST NOT reveal chain state */
export function paymentRefused(message: string, details?: PaymentRefused["details"]): PaymentRefused {
  return new ServiceError("payment_refused", message, { details });
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
  /** Returns what a transaction must contain to be valid now, in the terms of the chain's own nodes. */
  now(signal: AbortSignal): Promise<WalletParameters>;

  /** Whether a text is an address of the chain. */
  isAddress(text: string): boolean;

  /** Returns an address's USDC, in micro-USDC; undefined if it has no account for USDC. */
  holding(address: string, signal: AbortSignal): Promise<bigint | undefined>;
};

export type WalletParameters =
  /** `genesisHash`: base64. Fees in microAlgos; `feePerByte` is 0 unless the network is congested. */
  | { genesisId: string; genesisHash: string; round: number; minFee: number; feePerByte: number }
  /** Base58, and the last block height at which a transaction that names it is valid. */
  | { blockhash: string; lastValidBlockHeight: number };

/** What is needed to make the clients of a rail's nodes. */
export type RailConnection = {
  config: Config;
  rules: QuorumRules;
  /** The clients of the ledger's nodes. */
  ledger: AlgorandNodes;
  /** Returns the clients of a source chain's nodes; undefined if the chain is not configured. */
  chain<N extends object>(kind: SourceChainKind<N>): N | undefined;
};

/** What is needed to open rails. */
export type RailContext = {
  config: Config;
  /** The rounds of the ledger. */
  rounds: Rounds;
  clock: Clock;
  /** Aborts the opening. */
  signal: AbortSignal;
};

/** What is needed to read a rail's payments. */
export type ReadingContext = {
  config: Config;
  ledger: LedgerReading;
  ask: Ask;
  clock: Pick<Clock, "now">;
};

/**
 * A kind of rail, as a rail's folder exports it and the registry lists it.
 * @typeParam N the clients of its nodes
 */
export interface RailKind<N extends object = object> extends RailFacts {
  readonly settings: RailVariables;

  /** Like `isNetwork` of the rail that these settings open. */
  isNetwork(network: string, config: Config): boolean;

  /** Whether a text has the form of this rail's payment keys, which differs from every other rail's. */
  isPaymentKey(text: string): boolean;

  /** Whether a text has the form of this rail's transaction ids. */
  isTransactionId(text: string): boolean;

  /** Returns the canonical spelling of an address or a transaction id. */
  canonical(text: string): string;

  /** Makes clients of the configured nodes, and sends nothing. */
  connect(connection: RailConnection): N;

  /**
   * Opens the rail. It must succeed for a disabled rail, because its earlier payments are still looked up.
   * @param nodes from `connect`
   * @throws config_invalid when a network is not the one that the settings claim; ProviderError when it cannot be read
   */
  open(nodes: N, context: RailContext): Rail | Promise<Rail>;

  /** Opens the reader of payments for an audit; undefined if no node is configured. @param nodes from `connect` */
  reader(nodes: N, context: ReadingContext): PaymentReader | undefined;

  /**
   * Examines what payments need of the nodes, for the operator. Absent if the ledger's nodes are the rail's.
   * @param nodes from `connect`
   */
  examine?(nodes: N, examination: Examination): Promise<Finding[]>;

  /** The scheme's own part of a payment that nobody accepts: it has every member, for decoders, and no signature. */
  readonly unsigned: PaymentPayload["payload"];
}

/**
 * A way to pay.
 *
 * `read` gives a payment its key. Until `signature` returns `valid`, or `onChain` returns true, nothing in the payment
 * may be believed or written. `status` asks the chain and MUST NOT believe the facilitator.
 */
export interface Rail<P extends Payment = Payment> extends RailFacts {
  /** What scheme `exact` adds to every offer on this rail, besides the facilitator's fee payer. */
  readonly extra: Readonly<Record<string, string>>;

  /** Absent if wallets have their own nodes. */
  readonly wallets?: WalletHelp;

  /** Whether a network is this rail's, in any spelling that clients and facilitators use. */
  isNetwork(network: string): boolean;

  /**
   * Reads the scheme's own part of a payload.
   *
   * @throws payment_refused when it has no payment key
   */
  read(payload: PaymentPayload): P;

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
   * Returns why a payee cannot be paid now: a clause with the payee as its subject; undefined when it can be paid.
   * @throws ProviderError when the chain cannot be read
   */
  payeeFault(payTo: string, signal: AbortSignal): Promise<string | undefined>;

  /**
   * Reads the payer's current balance of the asset, in atomic units. @throws ProviderError when the chain cannot be
   * read
   */
  balance(payment: P, signal: AbortSignal): Promise<bigint>;

  /**
   * Reads the payment's status from its chain.
   * @param hint a transaction that may contain the payment, as the facilitator says: looked at first, and never
   *   believed
   * @throws ProviderError when the chain cannot be read
   */
  status(payment: P, signal: AbortSignal, hint?: string): Promise<PaymentStatus>;

  /** Whether the payment has been spent on its payee by now. @throws ProviderError when the chain cannot be read */
  spent(payment: P, signal: AbortSignal): Promise<boolean>;

  /** Waits until `status` may have changed: for a round, a block or a moment. */
  news(signal: AbortSignal): Promise<void>;
}
