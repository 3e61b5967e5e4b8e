import type { ChainHeights, Span } from "../../providers/reading.ts";
import type { RailName } from "./rail.ts";

/** A transfer of USDC to one of our addresses, as its chain shows it. */
export type ChainPayment = {
  readonly rail: RailName;
  /** The payment key (docs/format.md, P); absent if none can be computed from the transfer. */
  readonly key?: string | undefined;
  /** Further keys that only this payment may use, such as its Algorand group id. */
  readonly aliases: readonly string[];
  /** Transaction id on the payment's chain. */
  readonly transaction: string;
  readonly height: number;
  readonly payer: string;
  /** As the caller spelled it. */
  readonly payTo: string;
  /** micro-USDC; undefined when the transaction moves it in a way that the audit does not read. */
  readonly amount?: bigint | undefined;
  /**
   * Whether someone other than the payer submitted it and paid its fee, as x402's facilitators do. A payment by hand is
   * not relayed.
   */
  readonly relayed: boolean;
};

/**
 * Reads the payments to our addresses from a rail's chain, as the quorum of its nodes states them. Every method throws
 * ProviderError when the nodes give no usable answer, or contradict one another.
 */
export interface PaymentReader extends ChainHeights {
  /**
   * Lists every transfer of USDC to the addresses within the span, unordered, with at most a page in memory.
   * @param addresses as spelled in the settings
   */
  payments(addresses: readonly string[], span: Span): AsyncIterable<ChainPayment>;

  /**
   * Lists the transfers of USDC to the addresses in one transaction: none when it is not on the chain, or failed there.
   */
  inTransaction(id: string, addresses: readonly string[]): Promise<ChainPayment[]>;
}
