import type { Call } from "./call.ts";
import { isAtRest, withoutBytes } from "./machine.ts";

/*
 * A call at rest keeps what a replay and an audit need: its names, what was bought and at what price, where the payment and
 * the attestation stand, receipt and bundle. Of the payload a replay needs only whether another one has the same bytes.
 */

/** What a journal does for calls at rest. */
export interface PruningJournal {
  /** The calls at rest that are not pruned and began before a time (Unix ms), and the bytes that they take. */
  prunable(before: number): Promise<{ calls: number; bytes: number }>;

  /**
   * Prunes calls at rest (`pruned`) that began before a time (Unix ms), the oldest first. MUST change no other call, and none
   * twice, however many replicas prune at once.
   *
   * @returns how many were at hand: `limit` when there may be more
   */
  prune(before: number, limit: number): Promise<number>;
}

/**
 * A call without its payload and the bytes of its attestation transactions.
 *
 * @throws Error when the call is not at rest
 */
export function pruned(call: Call): Call {
  if (!isAtRest(call)) throw new Error(`the call of ${call.key} is ${call.state} and may not be pruned`);
  return { ...call, payload: undefined, attempts: call.attempts.map(withoutBytes) };
}
