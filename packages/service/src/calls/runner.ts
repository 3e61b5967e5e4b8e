import type { Logger } from "pino";
import { type Clock, race, within } from "../clock.ts";
import { hasCode } from "../errors.ts";
import { createPlaces, Waiters } from "../waiters.ts";
import { rowOf } from "./apart.ts";
import { type Call, type CallHead, isWhole } from "./call.ts";
import { journalBehind } from "./copied.ts";
import type { Load } from "./in-flight.ts";
import type { Journal } from "./journal.ts";
import { keepLeases } from "./leases.ts";
import { type CallEvent, isAtRest, isDeferred, isFinal, isUnpaid, nextEffect, reduce, toCommit } from "./machine.ts";
import { isOwnCause, type Perform, pauseAfter, pauseBeforeLook } from "./perform.ts";
import { activeOf, newRunning, oldestOf, queueAgeOf, type Running, see, statesOf } from "./running.ts";

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

/** Failures in a row after which a paid call counts as owed, which is logged as an error. */
const OWED_AFTER_FAILURES = 3;
/** How long an effect may take until the deferred event before it is committed alone, in ms: then the row is behind for long. */
const KEEP_AFTER_MS = 1_000;
/** Delivered calls that are looked at together: after a restart thousands are due in one moment, and each has its row meanwhile. */
const MAX_WATCHED = 64;
/** How often a row is read again while another replica carries its call, in ms: notifications may be lost. */
const POLL_MS = 2_000;

export type Runner = ReturnType<typeof createRunner>;

/**
 * Carries the calls whose lease this replica has to their end, with one loop for each call, independent of the request that
 * began it.
 *
 * Every event is committed before anything that follows from it leaves the process. The loops have no state that a restart
 * would miss: after a crash, the replica that takes the lease continues from the row.
 */
export function createRunner({ journal, perform, clock, log, onTransition, carrying }: RunnerOptions) {
  const running = new Map<string, Running>();
  const waiters = new Waiters<Call>();
  const unlisten = journal.listen({ ended: (key) => waiters.wake(key) });
  const stopping = new AbortController();
  const watched = createPlaces(MAX_WATCHED);
  let leases: ReturnType<typeof keepLeases> | undefined;
  /** What was known of each call whose row may be of an earlier time, until that is looked at. */
  const suspects = new Map<string, Running["seen"]>();
  let hasFoundLoss = false;

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
      for (const { key, seen, end } of loops) {
        suspects.set(key, seen);
        end.abort(new Error("the journal is behind"));
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
      leases = keepLeases({ journal, clock, log, take: (call) => void start(call), drop, stop: stopping.signal });
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
    const run = () => carry(started);
    started.done = (carrying ? carrying(call, run) : run()).finally(() => {
      running.delete(started.key);
      waiters.wake(started.key);
    });
    return started.done;
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
    dropped.end.abort(new Error("the lease was lost"));
  }

  async function carry(carried: Running): Promise<void> {
    const { signal } = carried.end;
    while (!(carried.call && isAtRest(carried.call)) && !signal.aborted) {
      try {
        await (isFinal(carried.seen.state) ? watch(carried) : advance(carried));
        carried.memory.failures = 0;
      } catch (error) {
        if (!signal.aborted) await recover(carried, error);
      }
    }
  }

  async function advance(carried: Running): Promise<void> {
    if (!carried.call) await look(carried);
    await step(carried);
  }

  /** Looks at a delivered payment once it is due. */
  async function watch(carried: Running): Promise<void> {
    await rest(carried);
    const leave = await watched.enter(carried.end.signal);
    try {
      await advance(carried);
    } finally {
      leave();
    }
  }

  /** Waits until a delivered payment is to be looked at, without its row. */
  async function rest(carried: Running): Promise<void> {
    const { memory, end } = carried;
    memory.waiting = true;
    carried.call = undefined;
    await clock.sleep(pauseBeforeLook(memory.looks), end.signal);
  }

  /** Reads the row of a call whose head alone is known. */
  async function look(carried: Running): Promise<void> {
    const { key } = carried;
    const found = await journal.find(key);
    if (isLost(carried, found)) throw journalBehind(`the call of ${key}`);
    see(carried, found);
  }

  /** A function of its own, so that nothing in a resting loop's frame is the row. */
  async function step(carried: Running): Promise<void> {
    const { call, memory, end } = carried;
    if (!call) throw new Error(`the call of ${carried.key} rests`);
    if (!isUnpaid(call.state)) carried.paidSince ??= clock.now();
    try {
      const performed = perform(call, nextEffect(call, memory.unsent === call.settlements), memory, end.signal);
      if (carried.isAhead) await keepUnlessQuick(carried, performed);
      const event = await performed;
      // Before the commit: an event has a next effect, so that the call counts as active again.
      if (event) memory.waiting = false;
      // Not by any effect that works: what a ledger refuses is signed anew, and then refused again.
      if (event?.type === "attestation_confirmed") memory.isHeldUp = false;
      if (event) await commit(carried, carried.call ?? call, event);
    } finally {
      memory.release?.();
      delete memory.release;
    }
  }

  /** Commits a deferred event alone when the effect after it is not quick: the row's state is read by others. Never rejects. */
  async function keepUnlessQuick(carried: Running, performed: Promise<unknown>): Promise<void> {
    const quick = performed.then(() => true).catch(() => true);
    const slow = async (ends: AbortSignal) => clock.sleep(KEEP_AFTER_MS, ends).then(() => false);
    const isQuick = await race(carried.end.signal, () => quick, slow).catch(() => true);
    // Where it fails the commit of what follows fails, too, or carries the event.
    if (!isQuick) await keep(carried).catch(() => undefined);
  }

  /** Commits a deferred event alone. */
  async function keep(carried: Running): Promise<void> {
    const { call } = carried;
    if (!call || !carried.isAhead) return;
    const kept = toCommit(call);
    await journal.update(kept);
    see(carried, kept);
  }

  /**
   * A failed effect changed nothing but what was committed: logs, pauses, reads the row again, and commits what a chain showed
   * before the failure. While the journal cannot be read it is asked for nothing else.
   */
  async function recover(carried: Running, error: unknown): Promise<void> {
    if (hasCode(error, "call_stale") && (await reread(carried)) !== "same") return;
    const { key, memory, end } = carried;
    const { state } = carried.seen;
    memory.failures += 1;
    memory.isHeldUp = isOwnCause(error);
    log.warn({ err: error, key, state, failures: memory.failures }, "call held up");
    await clock.sleep(pauseAfter(memory.failures), end.signal).catch(() => undefined);
    // Whoever ended the loop may have moved the call on from another row.
    if (end.signal.aborted) return;
    const row = await reread(carried);
    const { call } = carried;
    if (row === "unread" || !call) return;
    const isOwed = (call.state === "paid" || call.state === "signed") && memory.failures >= OWED_AFTER_FAILURES;
    const reason = error instanceof Error ? error.message : String(error);
    const kept = isOwed ? commit(carried, call, { type: "attestation_blocked", reason }) : keep(carried);
    await kept.catch(() => undefined);
  }

  /** Reads the row again. @returns `moved` when another writer has moved it, which is then taken over */
  async function reread(carried: Running): Promise<"moved" | "same" | "unread"> {
    const read = await journal.find(carried.key).then(
      (found) => ({ found }),
      () => undefined,
    );
    if (!read || isLost(carried, read.found)) return "unread";
    const { found } = read;
    if (found.version === carried.seen.version) return "same";
    see(carried, found);
    // The event that it waited for may have happened.
    carried.memory.waiting = false;
    return "moved";
  }

  /** Whether the journal lacks what it had of a call. Then its loop ends: what it knows cannot be carried on from the row. */
  function isLost({ key, seen, end }: Running, found: Call | undefined): found is undefined {
    if (found && found.version >= seen.version) return false;
    hasFoundLoss = true;
    suspects.set(key, seen);
    end.abort(journalBehind(`the call of ${key}`));
    return true;
  }

  function noteLoss(key: string, { state, version }: Running["seen"], found: Call | undefined): void {
    if (!found) log.error({ key, state, version }, "call_lost: the journal has no row of it any more");
    else if (found.version < version)
      log.error({ key, state, version, left: found.state }, "call_behind: the journal lacks its last commits");
  }

  async function commit(carried: Running, before: Call, event: CallEvent): Promise<void> {
    const after = reduce(before, event);
    if (!isDeferred(event)) await journal.update(after);
    see(carried, rowOf(after), isDeferred(event));
    onTransition?.(before, after);
    const { key, state, reason } = after;
    const line = { key, from: before.state, to: state, ...(reason && { reason }) };
    if (state === "owed" || state === "loss") log.error(line, event.type);
    else log.info(line, event.type);
    if (isFinal(state)) waiters.wake(key, carried.call);
  }
}
