import { type Call, type CallHead, type CallState, isWhole } from "./call.ts";
import { type Load, weightOf } from "./in-flight.ts";
import { isAtRest, isFinal, isUnpaid } from "./machine.ts";
import { type Memory, newMemory } from "./perform.ts";

/** A call whose loop runs. */
export type Running = {
  readonly key: string;
  /** What is known of the call. */
  seen: Pick<Call, "state" | "version" | "createdAt">;
  /** The row; undefined until it is looked at, and while a delivered payment is watched, which takes many minutes. */
  call: Call | undefined;
  /** Whether `call` has a deferred event that its row has not (machine.ts). */
  isAhead: boolean;
  /** Of its subject, among what is in flight; that of a small one until the row is looked at. */
  weight: number;
  /** Resolves when the loop has ended. */
  done: Promise<void>;
  memory: Memory;
  /** When this process first saw the call paid: Unix ms. */
  paidSince?: number;
  /** Ends the loop at its next step. */
  end: AbortController;
  /** While a delivered payment rests until it is looked at: ends that, and with it the call's carrying. */
  endRest?: (() => void) | undefined;
};

type Calls = Iterable<Running>;

/** @param isTakenOver whether it was begun by another process, or its loop was ended meanwhile */
export function newRunning(known: Call | CallHead, isTakenOver = true): Running {
  const call = isWhole(known) ? known : undefined;
  return {
    key: known.key,
    seen: seenOf(known),
    call,
    isAhead: false,
    weight: call ? weightOf(call.subject) : 1,
    done: Promise.resolve(),
    memory: newMemory(isTakenOver),
    end: new AbortController(),
  };
}

/** Takes over a row that was committed or read; or, `isAhead`, what its next commit will have. */
export function see(running: Running, call: Call, isAhead = false): void {
  running.call = call;
  running.isAhead = isAhead;
  running.seen = seenOf(call);
  running.weight = weightOf(call.subject);
}

/** Whether a call is carried no further: it is at rest, or its loop was ended. */
export function isOver({ call, end }: Running): boolean {
  return end.signal.aborted || (call !== undefined && isAtRest(call));
}

/** Ends the loop at its next step. */
export function endRunning({ end, endRest }: Running, reason: Error): void {
  end.abort(reason);
  endRest?.();
}

function seenOf({ state, version, createdAt }: CallHead): Running["seen"] {
  return { state, version, createdAt };
}

/** Those that are worked on, without those that can only wait. */
export function activeOf(calls: Calls): Load {
  const active = { calls: 0, weight: 0 };
  for (const { memory, weight } of calls) {
    if (memory.waiting) continue;
    active.calls += 1;
    active.weight += weight;
  }
  return active;
}

/** How many are in each state. */
export function statesOf(calls: Calls): Map<CallState, number> {
  const states = new Map<CallState, number>();
  for (const { seen } of calls) states.set(seen.state, (states.get(seen.state) ?? 0) + 1);
  return states;
}

/** More calls than these are not held up by themselves: a signer that refuses everything would take money without an end. */
const MAX_HELD_UP = 3;

/**
 * How long the oldest paid call has waited for its bundle, in ms; 0 without one. Calls that can only wait do not count, nor
 * do up to MAX_HELD_UP that are held up for a cause of their own.
 */
export function queueAgeOf(calls: Calls, now: number): number {
  let [age, ageOfHeldUp, heldUp] = [0, 0, 0];
  for (const { seen, memory, paidSince = now } of calls) {
    if (isUnpaid(seen.state) || isFinal(seen.state) || memory.waiting) continue;
    if (!memory.isHeldUp) age = Math.max(age, now - paidSince);
    else {
      heldUp += 1;
      ageOfHeldUp = Math.max(ageOfHeldUp, now - paidSince);
    }
  }
  return heldUp > MAX_HELD_UP ? Math.max(age, ageOfHeldUp) : age;
}

/** How old the oldest call without an answer is, in ms, by whether its payment is proved; 0 without one. */
export function oldestOf(calls: Calls, now: number): { proved: number; unproved: number } {
  const oldest = { proved: 0, unproved: 0 };
  for (const { seen } of calls) {
    if (isFinal(seen.state)) continue;
    const which = isUnpaid(seen.state) ? "unproved" : "proved";
    oldest[which] = Math.max(oldest[which], now - seen.createdAt);
  }
  return oldest;
}
