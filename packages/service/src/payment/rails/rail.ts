import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { SourceChainKind } from "../../chains/kind.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { RailVariables } from "../../config/rails.ts";
import { ServiceError } from "../../errors.ts";
import type { Rounds } from "../../ledger/ledger.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import type { QuorumRules } from "../../providers/quorum.ts";

/** The name of a rail in the registry; also in the journal, in settings (`PAY_TO_<NAME>`) and in logs. */
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
  /** The scheme's own part as a facilitator gets it: only the members that were read, in canonical spelling. */
  readonly wire: PaymentPayload["payload"];
};

/** What the payment's chain shows about it now. */
export type PaymentStanding =
  /** Paid to us, deep enough to count; `final` when no reorganisation can undo it any more. */
  | { state: "paid"; transaction: string; height: number; final: boolean }
  /** Can never be paid to us any more: it expired unspent, was cancelled, or was spent elsewhere. */
  | { state: "void"; reason: string }
  /** Neither: it may still be settled. */
  | { state: "open" };

/**
 * Nodes that must agree before a payment counts as void, if that many are configured. After a void the payer signs another
 * payment, and a single node may lag or lie.
 */
export const VOID_WITNESSES = 2;

/** What is known of a rail before any node is asked. */
export type RailFacts = {
  readonly name: RailName;
  /** CAIP-2, as stock clients know it. */
  readonly network: string;
  /** The network's name in our own `options`, where it is not the CAIP-2 name. */
  readonly optionNetwork?: string;
  readonly asset: string;
  /** Whether only `llms.txt` and a 402 list the rail, and no other document. */
  readonly isUnlisted?: boolean;
  /** Whether a payment is impossible without a fee payer that the facilitator names. */
  readonly needsFeePayer?: boolean;

  /**
   * Whether any facilitator may settle a payment, and another one after the first: its chain takes it at most once, and it
   * names no fee payer. Elsewhere a payment is bound to the facilitator whose fee payer it names.
   */
  readonly isForAnyFacilitator?: boolean;

  /** Whether an attestation of a source on that chain may be paid on this rail. */
  paysFor(source: string): boolean;

  /** Whether two spellings name one address. */
  sameAddress(a: string, b: string): boolean;
};

/**
 * What a wallet that has no node of its own needs before it signs: a page asks us, so that it need not connect to anyone
 * else. Nothing of it is believed when the payment comes.
 */
export type WalletHelp = {
  /** What a transaction must name to be valid now, in the words of the chain's own nodes. */
  now(signal: AbortSignal): Promise<WalletParameters>;

  /** Whether a text is an address of the chain. */
  isAddress(text: string): boolean;

  /** The USDC of an address, in micro-USDC; undefined where it has no account for USDC. */
  holding(address: string, signal: AbortSignal): Promise<bigint | undefined>;
};

export type WalletParameters =
  /** `genesisHash`: base64. Fees in microAlgos, `feePerByte` only where the network is congested. */
  | { genesisId: string; genesisHash: string; round: number; minFee: number; feePerByte: number }
  /** Base58, and the last block height at which a transaction that names it is valid. */
  | { blockhash: string; lastValidBlockHeight: number };

/** What the clients of a rail's nodes are made from. */
export type RailConnection = {
  config: Config;
  rules: QuorumRules;
  /** The clients of the ledger's nodes. */
  ledger: AlgorandNodes;
  /** The clients of a source chain's nodes; undefined where the chain is not configured. */
  chain<N extends object>(kind: SourceChainKind<N>): N | undefined;
};

/** What rails are opened from. */
export type RailContext = {
  config: Config;
  /** The rounds of the ledger. */
  rounds: Rounds;
  clock: Clock;
  /** Ends the opening. */
  signal: AbortSignal;
};

/**
 * A kind of rail, as a rail's folder exports it and the registry lists it.
 *
 * @typeParam N the clients of its nodes
 */
export interface RailKind<N extends object = object> extends RailFacts {
  readonly settings: RailVariables;

  /** As of the rail that these settings open. */
  isNetwork(network: string, config: Config): boolean;

  /** Whether a text has the form of this rail's payment keys, which no other rail's have. */
  isPaymentKey(text: string): boolean;

  /** Whether a text has the form of this rail's transaction ids. */
  isTransactionId(text: string): boolean;

  /** The one spelling of an address or a transaction id. */
  canonical(text: string): string;

  /** Makes clients of the configured nodes, and sends nothing. */
  connect(connection: RailConnection): N;

  /**
   * Opens the rail. It must succeed for a rail that is switched off: its earlier payments are still looked up.
   *
   * @param nodes as `connect` made them
   * @throws config_invalid when a network is not the one that the settings claim; ProviderError when it cannot be read
   */
  open(nodes: N, context: RailContext): Rail | Promise<Rail>;
}

/**
 * A way to pay.
 *
 * `read` gives a payment its key. Until `signature` returns `valid`, or `onChain` returns true, nothing in the payment may
 * be believed or written. `standing` asks the chain and MUST NOT believe the facilitator.
 */
export interface Rail<P extends Payment = Payment> extends RailFacts {
  /** What scheme `exact` adds to every offer on this rail, beside the facilitator's fee payer. */
  readonly extra: Readonly<Record<string, string>>;

  /** Absent where wallets have nodes of their own. */
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
   *
   * @throws ProviderError
   */
  onChain(payment: P, signal: AbortSignal): Promise<boolean>;

  /**
   * Checks what neither time nor an offer changes: the layout of scheme `exact`, the asset and the payer's account. A
   * payment that fails was never taken by us, so its chain is not searched for it.
   *
   * @throws payment_refused
   */
  checkLayout(payment: P): Promise<void>;

  /**
   * Checks every field: as `checkLayout` does, then against the time and the requirement that will be settled. May wait some
   * seconds for our own nodes to come as far as the payer's.
   *
   * @throws payment_refused; ProviderError when our nodes are too far behind to judge the payment
   */
  check(payment: P, requirement: PaymentRequirements, signal: AbortSignal): Promise<void>;

  /**
   * Why a payee cannot be paid now: a clause with the payee as its subject. Undefined when it can be paid.
   *
   * @throws ProviderError when the chain cannot be read
   */
  payeeFault(payTo: string, signal: AbortSignal): Promise<string | undefined>;

  /** The payer's balance of the asset now, in atomic units. @throws ProviderError when the chain cannot be read */
  balance(payment: P, signal: AbortSignal): Promise<bigint>;

  /**
   * Where the payment stands on its chain.
   *
   * @param hint a transaction that may hold the payment, as the facilitator says: looked at first, and never believed
   * @throws ProviderError when the chain cannot be read
   */
  standing(payment: P, signal: AbortSignal, hint?: string): Promise<PaymentStanding>;

  /** Whether the payment has been spent on its payee by now. @throws ProviderError when the chain cannot be read */
  spent(payment: P, signal: AbortSignal): Promise<boolean>;

  /** Waits until `standing` may have changed: a round, a block, a moment. */
  news(signal: AbortSignal): Promise<void>;
}
