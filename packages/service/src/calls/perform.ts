import type { Logger } from "pino";
import type { Attestor } from "../attestor/attestor.ts";
import type { Clock } from "../clock.ts";
import { hasCode } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { SettleAnswer } from "../payment/facilitator.ts";
import type { RailName, SettlementRail } from "../payment/rails/rail.ts";
import type { Resource } from "../payment/resource.ts";
import type { Settler } from "../payment/routes.ts";
import type { Products } from "../subjects/product.ts";
import type { Subject } from "../subjects/subject.ts";
import type { Call } from "./call.ts";
import type { AttestationOf } from "./copied.ts";
import type { Journal } from "./journal.ts";
import type { CallEvent, Effect } from "./machine.ts";

/**
 * Performs an effect.
 *
 * @returns what happened, to be committed; undefined when the call must be looked at again
 */
export type Perform = (call: Call, effect: Effect, memory: Memory, stop: AbortSignal) => Promise<CallEvent | undefined>;

export type EffectsOptions = {
  rails: ReadonlyMap<RailName, SettlementRail>;
  /** Of the enabled rails, in order of preference; a payment on another rail is looked up, and not settled. */
  settlers: ReadonlyMap<RailName, readonly Settler[]>;
  products: Products;
  journal: Pick<Journal, "evidenceOf" | "evidenceItemsOf">;
  ledger: Ledger;
  attestor: Attestor;
  /**
   * Finds the attestation that the ledger may have already of the payment of a call that was taken over (calls/copied.ts);
   * undefined when the call cannot be behind, or the ledger has none and gets none any more.
   */
  attestationOf: AttestationOf;
  /** What is sold for a subject, for the facilitator and receipts. */
  resourceOf: (subject: Subject) => Resource;
  log: Logger;
  clock: Clock;
  /** Time-out of one question to a chain, in ms. */
  deadlineMs: number;
  /** Time-out of a settlement, in ms: the facilitator waits for the payment's chain. */
  settleMs: number;
};

/** What a loop remembers at its beginning. */
export function newMemory(isTakenOver = true): Memory {
  return { failures: 0, looks: 0, isTakenOver };
}

/** What one loop remembers between effects. Only pacing: losing it in a crash costs time, never safety. */
export type Memory = {
  /** The number of the settlement that this loop has committed and not sent yet. */
  unsent?: number;
  /** The settlement that was sent and has no answer yet; `at` is when it was sent. */
  settling?: { answered: Promise<void>; end: AbortController; at: number };
  /** The last answer of a facilitator, and when it came; `isFailure` when it is no verdict on the payment. */
  settled?: { answer: SettleAnswer; at: number; isFailure?: boolean };
  /** The transaction that a facilitator named last. */
  hint?: string;
  /** It was logged that the settings do not name the facilitator that the payment is bound to. */
  isOrphan?: boolean;
  /**
   * The loop did not see the call from its insertion on: if the journal lacks commits, the call may have gone further than its
   * row shows. This alone is no pacing, and follows from how the loop began.
   */
  readonly isTakenOver: boolean;
  /** How often a delivered payment that is not final yet was looked up. */
  looks: number;
  /** The call can only wait: for an authorization to expire, for a payment to become final, for another key. */
  waiting?: boolean;
  /** Ends the hold of an effect on memory that its event takes: called once that is committed, or has failed. */
  release?: () => void;
  /** Effects in a row that failed. */
  failures: number;
  /** An effect failed for a cause of the call's own. It is, until the ledger has the attestation or the call fails for another cause. */
  isHeldUp?: boolean;
};

/** A quarter of the time in which a paid call has to end once everything works: one pause must not use it up. */
export const MAX_PAUSE_MS = 15_000;

/** Until the first look at a delivered payment that is not final yet; the pauses double, because Base takes some 20 minutes. */
const FIRST_LOOK_MS = 15_000;
const MAX_DOUBLINGS = 5;

/** The pause before a delivered payment is looked at again, in ms. @param looks that got an answer */
export function pauseBeforeLook(looks: number): number {
  return FIRST_LOOK_MS * 2 ** Math.min(looks, MAX_DOUBLINGS);
}

/** Whether an effect failed for a cause of the call's own, which delays no other call. */
export function isOwnCause(error: unknown): boolean {
  return hasCode(error, "call_held_up") || (hasCode(error, "signer_failed") && error.details.failure === "refused");
}

/** A pause that doubles with every failure in a row, in ms. */
export function pauseAfter(failures: number): number {
  return Math.min(250 * 2 ** failures, MAX_PAUSE_MS);
}
