import type { Logger } from "pino";
import { type Clock, deadline } from "../clock.ts";
import { hasCode } from "../errors.ts";
import type { Call, CallState } from "./call.ts";
import type { Journal } from "./journal.ts";
import { keepLeases } from "./leases.ts";
import { type CallEvent, isAtRest, isFinal, isUnpaid, nextEffect, reduce } from "./machine.ts";
import type { Perform } from "./perform.ts";
import { type Memory, pauseAfter } from "./perform.ts";
import { Waiters } from "./waiters.ts";

export type RunnerOptions = {
  journal: Journal;
  perform: Perform;
  clock: Clock;
  log: Logger;
  /** Called after each commit. */
  onTransition?: (before: Call, after: Call) => void;
  /** Runs the loop of a call. */
  carrying?: Carrying;
};

/** @param carry the call's loop, which never rejects */
export type Carrying = (call: Call, carry: () => Promise<void>) => Promise<void>;

/** Failures in a row after which a paid call counts as owed, which is logged as an error. */
const OWED_AFTER_FAILURES = 3;
/** How often a row is read again while another replica carries its call, in ms: notifications may be lost. */
const POLL_MS = 2_000;

type Running = {
  /** As last committed. */
  call: Call;
  done: Promise<void>;
  memory: Memory;
  /** When this process first saw the call paid: Unix ms. */
  paidSince?: number;
  /** Ends the loop at its next step. */
  end: AbortController;
};

export type Runner = ReturnType<typeof createRunner>;

/**
 * Carries the calls whose lease this replica has to their end, with one loop for each call, independent of the request that
 * began it.
 *
 * Every event is committed before the effect that follows from it. The loops have no state that a restart would miss:
 * after a crash, the replica that takes the lease continues from the row.
 */
export function createRunner({ journal, perform, clock, log, onTransition, carrying }: RunnerOptions) {
  const running = new Map<string, Running>();
  const waiters = new Waiters();
  const unlisten = journal.listen({ ended: (key) => waiters.wake(key) });
  const stopping = new AbortController();
  let leases: ReturnType<typeof keepLeases> | undefined;

  return {
    /** The number of calls that are worked on now, without those that can only wait. */
    get active(): number {
      return [...running.values()].filter(({ memory }) => !memory.waiting).length;
    },

    /** How many calls are in each state, of those that this replica carries. */
    states(): Map<CallState, number> {
      const states = new Map<CallState, number>();
      for (const { call } of running.values()) states.set(call.state, (states.get(call.state) ?? 0) + 1);
      return states;
    },

    /**
     * How long the oldest paid call of this replica has waited for its bundle, in ms; 0 without one. Calls that can only
     * wait do not count: their cause delays no other call.
     */
    get queueAge(): number {
      const isQueued = ({ call, memory }: Running) => !isUnpaid(call.state) && !isFinal(call.state) && !memory.waiting;
      const now = clock.now();
      const queued = [...running.values()].filter(isQueued);
      return Math.max(0, ...queued.map(({ paidSince = now }) => now - paidSince));
    },

    /**
     * How old the oldest call of this replica is that has no answer yet, in ms, by whether its payment is proved; 0 without
     * one. Unlike `queueAge` it has every such call, and the age that the journal knows, which no restart begins anew.
     */
    oldest(): { proved: number; unproved: number } {
      const now = clock.now();
      const age = (isUnproved: boolean) => {
        const calls = [...running.values()].filter(
          ({ call: { state } }) => isUnpaid(state) === isUnproved && !isFinal(state),
        );
        return Math.max(0, ...calls.map(({ call }) => now - call.createdAt));
      };
      return { proved: age(false), unproved: age(true) };
    },

    /** Takes every call that no other replica carries, now and from now on. */
    async resume(): Promise<void> {
      leases = keepLeases({ journal, clock, log, take: (call) => void start(call), drop, stop: stopping.signal });
      await leases;
    },

    start,

    /**
     * Waits until a call is final, whichever replica carries it, or until the signal ends the wait.
     *
     * @returns the call as it was last committed, as far as this replica knows
     */
    async wait(call: Call, signal: AbortSignal): Promise<Call> {
      const { key } = call;
      const enough = AbortSignal.any([signal, stopping.signal]);
      let known = call;
      void start(call);
      for (;;) {
        // Begun before the row is read, so that an end in between is not missed.
        const news = waiters.wait(key, deadline(clock, POLL_MS, enough));
        const carried = running.get(key);
        known = carried?.call ?? (await journal.find(key).catch(() => undefined)) ?? known;
        if (isFinal(known.state) || enough.aborted) return known;
        await news;
        if (carried && isFinal(carried.call.state)) return carried.call;
      }
    },

    /** Ends every loop at its next step, and releases the leases: another replica, or the next process, continues. */
    async stop(): Promise<void> {
      const reason = new Error("the runner is stopping");
      stopping.abort(reason);
      unlisten();
      const loops = [...running.values()];
      for (const { end } of loops) end.abort(reason);
      const kept = leases?.then(({ ended }) => ended).catch(() => undefined);
      await Promise.all([kept, ...loops.map(({ done }) => done)]);
      await journal
        .release()
        .catch((err: unknown) => log.warn({ err }, "the leases could not be released: they expire"));
    },
  };

  /**
   * Carries a call, unless a loop of it runs already or another replica has its lease.
   *
   * @returns resolves at its end; never rejects
   */
  function start(call: Call): Promise<void> {
    const { key } = call;
    const earlier = running.get(key);
    // The lease was lost and won again: without the wait two loops would carry the call.
    if (earlier?.end.signal.aborted) return earlier.done.then(() => start(call));
    if (earlier) return earlier.done;
    if (isAtRest(call) || stopping.signal.aborted || !journal.holds(key)) return Promise.resolve();
    const started: Running = { call, done: Promise.resolve(), memory: { failures: 0 }, end: new AbortController() };
    running.set(key, started);
    const carried = carrying ? carrying(call, () => carry(started)) : carry(started);
    started.done = carried.finally(() => {
      running.delete(key);
      waiters.wake(key);
    });
    return started.done;
  }

  /** Safe at any point: an uncommitted event did not happen, and every effect may happen twice. */
  function drop(key: string): void {
    const dropped = running.get(key);
    if (!dropped) return;
    log.warn({ key, state: dropped.call.state }, "lease lost: another replica carries the call");
    dropped.end.abort(new Error("the lease was lost"));
  }

  async function carry(carried: Running): Promise<void> {
    const { memory } = carried;
    const { signal } = carried.end;
    while (!isAtRest(carried.call) && !signal.aborted) {
      try {
        const { call } = carried;
        if (!isUnpaid(call.state)) carried.paidSince ??= clock.now();
        const event = await perform(call, nextEffect(call), memory, signal);
        // Before the commit: an event has a next effect, so that the call counts as active again.
        if (event) memory.waiting = false;
        if (event) await commit(carried, event);
        memory.failures = 0;
      } catch (error) {
        if (!signal.aborted) await recover(carried, error);
      }
    }
  }

  /** A failed effect changed nothing but what was committed: logs, pauses, reads the row again. */
  async function recover(carried: Running, error: unknown): Promise<void> {
    if (hasCode(error, "call_stale") && (await reread(carried))) return;
    const { memory, end } = carried;
    const { key, state } = carried.call;
    memory.failures += 1;
    log.warn({ err: error, key, state, failures: memory.failures }, "call held up");
    await clock.sleep(pauseAfter(memory.failures), end.signal).catch(() => undefined);
    await reread(carried);
    const owed = carried.call.state === "paid" || carried.call.state === "signed";
    if (owed && memory.failures >= OWED_AFTER_FAILURES) {
      const reason = error instanceof Error ? error.message : String(error);
      await commit(carried, { type: "attestation_blocked", reason }).catch(() => undefined);
    }
  }

  /** @returns whether another writer had moved the row */
  async function reread(carried: Running): Promise<boolean> {
    const found = await journal.find(carried.call.key).catch(() => undefined);
    if (!found || found.version === carried.call.version) return false;
    carried.call = found;
    // The event that it waited for may have happened.
    carried.memory.waiting = false;
    return true;
  }

  async function commit(carried: Running, event: CallEvent): Promise<void> {
    const before = carried.call;
    const after = reduce(before, event);
    await journal.update(after);
    carried.call = after;
    onTransition?.(before, after);
    const { key, state, reason } = after;
    const line = { key, from: before.state, to: state, ...(reason && { reason }) };
    if (state === "owed" || state === "loss") log.error(line, event.type);
    else log.info(line, event.type);
    if (isFinal(state)) waiters.wake(key);
  }
}
