import type { RailName } from "../../payment/rails/rail.ts";
import type { ChainPayment, Span } from "../facts.ts";

/** How far a chain goes, and up to where it can no longer change. */
export type Heads = { latest: number; final: number };

/**
 * Reads the payments to addresses of ours from a rail's chain, as the quorum of its nodes states them. Every method throws
 * ProviderError when the nodes give no usable answer, or contradict one another.
 */
export interface PaymentReader {
  readonly rail: RailName;

  /** Heights that every node which answers has. */
  heads(): Promise<Heads>;

  /** A height from before which nothing happened at that time or later. @param time Unix s */
  heightAt(time: number, latest: number): Promise<number>;

  /**
   * Every transfer of USDC to the addresses within the span, in no order; in memory there is never more than a page.
   *
   * @param addresses as settings have them
   */
  payments(addresses: readonly string[], span: Span): AsyncIterable<ChainPayment>;

  /** The transfers of USDC to the addresses in one transaction: none when it is not on the chain, or failed there. */
  inTransaction(id: string, addresses: readonly string[]): Promise<ChainPayment[]>;
}
