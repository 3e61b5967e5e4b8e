import type { PaymentPayload } from "@x402/core/types";
import type { z } from "zod";
import type { SourceChainKind } from "../../chains/chain-kind.ts";
import type { Config } from "../../config/config.ts";
import type { RailTable } from "../../config/own-tables.ts";
import type { Examination, Finding } from "../../health/finding.ts";
import type { Rounds } from "../../ledger/ledger.ts";
import type { LedgerReading } from "../../ledger/search.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import type { QuorumRules } from "../../providers/quorum.ts";
import type { Ask } from "../../providers/reading.ts";
import type { PaymentReader } from "./payment-reader.ts";
import type { Rail, RailFacts } from "./rail.ts";

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

/** Recognizes what an operator names. */
export interface RailSpellings {
  /** Like `isNetwork` of the rail that these settings open. */
  isNetwork(network: string, config: Config): boolean;

  /** Whether a text has the form of this rail's payment keys, which differs from every other rail's. */
  isPaymentKey(text: string): boolean;

  /** Whether a text has the form of this rail's transaction ids. */
  isTransactionId(text: string): boolean;

  /** Returns the canonical spelling of an address or a transaction id. */
  canonical(text: string): string;
}

/** Describes the help for wallets without their own nodes, in documents. */
export type WalletWords = {
  /** What a payment must name to be valid now: what `now` of the open rail returns. */
  parameters: Readonly<Record<string, z.ZodType>>;
  /** The same in words. */
  about: string;
  /** What it means that an address has no account for USDC, if the chain's users call it otherwise. */
  noAccount?: string;
};

/** What the doctor needs. @typeParam N the clients of the rail's nodes */
export interface ExaminedRail<N extends object = object> {
  /** Examines what payments need of the nodes. Absent if they are the ledger's. @param nodes from `connect` */
  examine?(nodes: N, examination: Examination): Promise<Finding[]>;

  /** The scheme's own part of a payment that nobody accepts: it has every member, for decoders, and no signature. */
  readonly unsigned: PaymentPayload["payload"];
}

/**
 * A kind of rail, as a rail's folder exports it and the registry lists it.
 * @typeParam N the clients of its nodes
 */
export interface RailKind<N extends object = object> extends RailFacts, RailSpellings, ExaminedRail<N> {
  /** The chain for people. */
  readonly label: string;
  readonly settings: RailTable;

  /** Absent if wallets have their own nodes. */
  readonly wallets?: WalletWords;

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
}
