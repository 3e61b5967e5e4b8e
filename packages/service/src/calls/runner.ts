import type { Logger } from "pino";
import { type Clock, within } from "../lib/clock.ts";
import { Waiters } from "../lib/waiters.ts";
import { type Call, type CallHead, isWhole } from "./call.ts";
import type { Load } from "./in-flight.ts";
import { type Journal, LEASE_MS } from "./journal.ts";
import { keepLeases } from "./leases.ts";
import { createLoop } from "./loop.ts";
import { isAtRest, isFinal } from "./machine.ts";
import { type Perform, pauseBeforeLook } from "./perform.ts";
import { createRests } from "./rests.ts";
import { activeOf, endRunning, isOver, newRunning, oldestOf, queueAgeOf, type Running, statesOf } from "./running.ts";

export type RunnerOptions = {
  journal: Journal;
  perform: Perform;
  clock: Clock;
  log: Logger;
  /** Called with each transition, and with a call that this process has just inserted. */
  onTransition?: (before: Call | undefined, after: Call) => void;
  /** Runs the loop of a call. */
  carrying?: Carrying;
};

/** @param carry the call's loop, which never rejects */
export type Carrying = (call: Call | CallHead, carry: () => Promise<void>) => Promise<void>;

/** How often a row is read again while another replica carries its call, in ms: notifications may be lost. */
const POLL_MS = 2_000;
/** Delivered payments that are looked at together: after a restart thousands are due in one moment, and each has its row meanwhile. */
const MAX_WATCHED = 64;

export type Runner = ReturnType<typeof createRunner>;

/**
 * Carries the calls whose lease this replica has to their end, with one loop for each call until it is delivered, independent of
 * the request that began it.
 *
 * Every event is committed before anything that follows from it leaves the process. The loops have no state that a restart
 * would miss: after a crash, the replica that takes the lease continues from the row.
 */
export function createRunner({ journal, perform, clock, log, onTransition, carrying }: RunnerOptions) {
  const running = new Map<string, Running>();
  const waiters = new Waiters<Call>();
  const unlisten = journal.listen({ ended: (key) => waiters.wake(key) });
  const stopping = new AbortController();
  let leases: ReturnType<typeof keepLeases> | undefined;
  /** What was known of each call whose row may be of an earlier time, until that is looked at. */
  const suspects = new Map<string, Running["seen"]>();
  let hasFoundLoss = false;
  /** When the last renewal of the leases began that succeeded: Unix ms. */
  let renewedAt = clock.now();
  const mayHaveLapsed = () => clock.now() - renewedAt > LEASE_MS;
  const rest = createRests(clock, MAX_WATCHED);
  const { carry, watch } = createLoop({
    ...{ journal, perform, clock, log, mayHaveLapsed, onTransition },
    onEnd: (key, call) => waiters.wake(key, call),
    onLoss(key, seen) {
      hasFoundLoss = true;
      suspects.set(key, seen);
    },
  });

  return {
    /** The calls that are worked on now, without those that can only wait. */
    get active(): Load {
      return activeOf(running.values());
    },

    /** How many calls are in each state, of those that this replica carries. */
    states: () => statesOf(running.values()),

    /**
     * How long the oldest paid call of this replica has waited for its bundle, in ms; 0 without one. Calls that can only
     * wait do not count, nor do a few that are held up by themselves: their cause delays no other call.
     */
    get queueAge(): number {
      return queueAgeOf(running.values(), clock.now());
    },

    /**
     * How old the oldest call of this replica is that has no answer yet, in ms, by whether its payment is proved; 0 without
     * one. Unlike `queueAge` it has every such call, and the age that the journal knows, which no restart begins anew.
     */
    oldest: () => oldestOf(running.values(), clock.now()),

    /** Whether a row of a call was of an earlier time than what was committed of it, or gone: then the journal is behind. */
    hasFoundLoss: () => hasFoundLoss,

    /**
     * Ends every loop, has a journal that is behind taken as it is, and logs each call of which it lacks commits. What the
     * journal still has is carried on from its row, like a call of another process, once its lease is taken.
     *
     * @param take rejects when the journal cannot be taken; then this is to be called again
     */
    async restart(take: () => Promise<void>): Promise<void> {
      const loops = [...running.values()];
      for (const loop of loops) {
        suspects.set(loop.key, loop.seen);
        endRunning(loop, new Error("the journal is behind"));
      }
      await Promise.all(loops.map(({ done }) => done));
      await take();
      hasFoundLoss = false;
      for (const [key, seen] of suspects) {
        noteLoss(key, seen, await journal.find(key));
        suspects.delete(key);
      }
    },

    /** Takes every call that no other replica carries, now and from now on. */
    async resume(): Promise<void> {
      const take = (call: CallHead) => void start(call);
      leases = keepLeases({ journal, clock, log, take, drop, renewed, stop: stopping.signal });
      await leases;
    },

    start,

    /**
     * Waits until a call is final, whichever replica carries it, or until the signal ends the wait.
     *
     * @param isVain whether nothing can come of waiting for a call now
     * @returns the call as it was last committed, as far as this replica knows
     */
    async wait(call: Call, signal: AbortSignal, isVain: (known: Call) => boolean = () => false): Promise<Call> {
      const { key } = call;
      let known = call;
      void start(call);
      for (;;) {
        // Begun before the row is read, so that an end in between is not missed.
        const news = within(clock, POLL_MS, signal, (ends) => waiters.wait(key, ends));
        const row = running.get(key)?.call ?? (await journal.find(key).catch(() => known));
        // The journal has lost it: nothing can come of it any more.
        if (!row) return known;
        known = row;
        if (isFinal(known.state) || signal.aborted || stopping.signal.aborted || isVain(known)) return known;
        known = (await news) ?? known;
        if (isFinal(known.state)) return known;
      }
    },

    /** Ends every loop at its next step, and releases the leases: another replica, or the next process, continues. */
    async stop(): Promise<void> {
      const reason = new Error("the runner is stopping");
      stopping.abort(reason);
      waiters.wakeAll();
      unlisten();
      const loops = [...running.values()];
      for (const loop of loops) endRunning(loop, reason);
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
   * @param isNew whether this process has just inserted it: its first settlement is known not to be sent
   * @returns resolves at its end; never rejects
   */
  function start(call: Call | CallHead, isNew = false): Promise<void> {
    const { key } = call;
    const earlier = running.get(key);
    // The lease was lost and won again: without the wait two loops would carry the call.
    if (earlier?.end.signal.aborted) return earlier.done.then(() => start(call));
    if (earlier) return earlier.done;
    if ((isWhole(call) && isAtRest(call)) || stopping.signal.aborted || !journal.holds(key)) return Promise.resolve();
    return begin(call, isNew);
  }

  /** Apart from `start`, whose closures keep the call as it began for as long as one of them lives. */
  function begin(call: Call | CallHead, isNew: boolean): Promise<void> {
    const started = newRunning(call, !isNew);
    if (isNew && isWhole(call)) noteBeginning(started, call);
    running.set(started.key, started);
    const run = () => new Promise<void>((ended) => carryOn(started, ended));
    started.done = (carrying ? carrying(call, run) : run()).finally(() => {
      running.delete(started.key);
      waiters.wake(started.key);
    });
    return started.done;
  }

  /** Carries a call until it is over. While its delivered payment waits to be looked at, it has neither loop nor row. */
  function carryOn(started: Running, ended: () => void): void {
    if (isOver(started)) ended();
    else if (isFinal(started.seen.state)) restUntilLook(started, ended);
    else void carry(started).then(() => carryOn(started, ended));
  }

  function restUntilLook(started: Running, ended: () => void): void {
    const { memory } = started;
    memory.waiting = true;
    started.call = undefined;
    const end = rest(pauseBeforeLook(memory.looks), (leave) => {
      started.endRest = undefined;
      void watch(started, leave).then(() => carryOn(started, ended));
    });
    started.endRest = () => {
      end();
      ended();
    };
  }

  function noteBeginning({ memory }: Running, call: Call): void {
    const { key, state, settlements } = call;
    // Of a payment that its chain shows as made none was begun.
    if (settlements > 0) memory.unsent = settlements;
    onTransition?.(undefined, call);
    log.info({ key, to: state }, "settlement_begun");
  }

  /** Safe at any point: an uncommitted event did not happen, and every effect may happen twice. */
  function drop(key: string): void {
    const dropped = running.get(key);
    if (!dropped) return;
    log.warn({ key, state: dropped.seen.state }, "lease lost: another replica carries the call");
    endRunning(dropped, new Error("the lease was lost"));
  }

  /** The leases are this replica's again; between the last renewal and this one they may have been another's. */
  function renewed(begunAt: number): void {
    if (begunAt - renewedAt > LEASE_MS) for (const { memory } of running.values()) memory.isTakenOver = true;
    renewedAt = begunAt;
  }

  function noteLoss(key: string, { state, version }: Running["seen"], found: Call | undefined): void {
    if (!found) log.error({ key, state, version }, "call_lost: the journal has no row of it any more");
    else if (found.version < version)
      log.error({ key, state, version, left: found.state }, "call_behind: the journal lacks its last commits");
  }
}
