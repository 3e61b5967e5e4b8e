import type { Deadline } from "../lib/clock.ts";
import { hasCode } from "../lib/errors.ts";
import type { SettleAnswer } from "../payment/facilitator.ts";
import type { Call } from "./call.ts";
import type { CallEvent, Effect } from "./machine.ts";

/**
 * Performs an effect.
 * @param deadline of the call: it ends with the call's loop
 * @returns what happened, to be committed; undefined when the call must be looked at again
 */
export type Perform = (
  call: Call,
  effect: Effect,
  memory: Memory,
  deadline: Deadline,
) => Promise<CallEvent | undefined>;

/** The limit of one question to a chain or a signer, in ms. */
export const QUESTION_MS = 20_000;

/** Makes the memory of a loop that begins. */
export function newMemory(isTakenOver = true): Memory {
  return { failures: 0, looks: 0, isTakenOver };
}

/** The memory of one loop between effects. It serves only pacing: losing it in a crash costs time, never safety. */
export type Memory = {
  /** The number of the settlement that this loop has committed and not yet sent. */
  unsent?: number;
  /** The settlement that was sent and has no answer yet. `at`: when it was sent, Unix ms. */
  settling?: { answered: Promise<void>; end: AbortController; at: number };
  /** The last answer of a facilitator. `at`: when it came, Unix ms; `isFailure`: it is no verdict on the payment. */
  settled?: { answer: SettleAnswer; at: number; isFailure?: boolean };
  /** The transaction that a facilitator last named. */
  hint?: string;
  /** Whether it was logged that the settings do not name the facilitator that the payment is bound to. */
  isOrphan?: boolean;
  /**
   * Whether another replica may have carried the call since its insertion. If the journal lacks commits, the call may then
   * have gone further than its row shows. Only this member is not pacing: a loop that begins anew has it, too.
   */
  isTakenOver: boolean;
  /** How often a delivered payment that is not final yet was looked up. */
  looks: number;
  /** Whether the call can only wait: for an authorization to expire, a payment to become final, or another key. */
  waiting?: boolean;
  /** Frees the process memory that an effect's event takes. It is called when the event is committed, or that has failed. */
  release?: () => void;
  /** How many effects in a row have failed. */
  failures: number;
  /**
   * Whether an effect failed for a cause of the call's own. This stays until the ledger has the attestation, or an effect
   * fails for another cause.
   */
  isHeldUp?: boolean;
};

/** A quarter of the time in which a paid call has to end once everything works: one pause must not use it up. */
export const MAX_PAUSE_MS = 15_000;

/** The pause before the first look at a delivered payment that is not final, in ms. It doubles: Base takes some 20 minutes. */
const FIRST_LOOK_MS = 15_000;
const MAX_DOUBLINGS = 5;

/** Returns the pause before a delivered payment is looked at again, in ms. @param looks how many got an answer */
export function pauseBeforeLook(looks: number): number {
  return FIRST_LOOK_MS * 2 ** Math.min(looks, MAX_DOUBLINGS);
}

/** Whether an effect failed for a cause of the call's own, which delays no other call. */
export function isOwnCause(error: unknown): boolean {
  return hasCode(error, "call_held_up") || (hasCode(error, "signer_failed") && error.details.failure === "refused");
}

/** Returns a pause that doubles with every failure in a row, in ms. */
export function pauseAfter(failures: number): number {
  return Math.min(250 * 2 ** failures, MAX_PAUSE_MS);
}
