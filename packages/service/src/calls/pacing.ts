import type { SettleAnswer } from "../payment/facilitator.ts";

/** What one loop remembers between effects. Only pacing: losing it in a crash costs time, never safety. */
export type Memory = {
  /** The number of the settlement that this loop has committed and not sent yet. */
  begun?: number;
  /** The settlement that was sent and has no answer yet. */
  settling?: { answered: Promise<void>; end: AbortController };
  /** The facilitator's last answer, and when it came. */
  settled?: { answer: SettleAnswer; at: number };
  /** How often a delivered payment that is not final yet was looked up. */
  looks?: number;
  /** The call can only wait: for an authorization to expire, for a payment to become final, for another key. */
  waiting?: boolean;
  /** Effects in a row that failed. */
  failures: number;
};

/** A quarter of the time in which a paid call has to end once everything works: one pause must not use it up. */
export const MAX_PAUSE_MS = 15_000;

/** A pause that doubles with every failure in a row, in ms. */
export function pauseAfter(failures: number): number {
  return Math.min(250 * 2 ** failures, MAX_PAUSE_MS);
}
