import type { RailName } from "../../payment/rails/rail.ts";
import type { ChainPayment, Span } from "../facts.ts";

/** The latest height of a chain, and the height up to which it can no longer change. */
export type Heads = { latest: number; final: number };

/**
 * Reads the payments to our addresses from a rail's chain, as the quorum of its nodes states them. Every method throws
 * ProviderError when the nodes give no usable answer, or contradict one another.
 */
export interface PaymentReader {
  readonly rail: RailName;

  /** Returns heights that every answering node has. */
  heads(): Promise<Heads>;

  /** Returns a height before which nothing happened at that time or later. @param time Unix s */
  heightAt(time: number, latest: number): Promise<number>;

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
