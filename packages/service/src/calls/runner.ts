import type { Logger } from "pino";
import { type Clock, deadline } from "../clock.ts";
import { hasCode } from "../errors.ts";
import type { Call } from "./call.ts";
import type { Perform } from "./effects.ts";
import type { Journal } from "./journal.ts";
import { Leases } from "./leases.ts";
import { type CallEvent, isAtRest, isFinal, isUnpaid, nextEffect, reduce } from "./machine.ts";
import { type Memory, pauseAfter } from "./pacing.ts";
import { Waiters } from "./waiters.ts";

export type RunnerOptions = { journal: Journal; perform: Perform; clock: Clock; log: Logger };

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

/**
 * Carries the calls whose lease this replica has to their end, with one loop for each call, independent of the request that
 * began it.
 *
 * Every event is committed before the effect that follows from it. The loops have no state that a restart would miss:
 * after a crash, the replica that takes the lease continues from the row.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #running = new Map<string, Running>();
  readonly #waiters = new Waiters();
  readonly #leases: Leases;
  readonly #unlisten: () => void;
  readonly #stop = new AbortController();

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#leases = new Leases({
      ...options,
      take: (call) => void this.start(call),
      drop: (key) => this.#drop(key),
    });
    this.#unlisten = options.journal.listen({ ended: (key) => this.#waiters.wake(key) });
  }

  /** The number of calls that are worked on now, without those that can only wait. */
  get active(): number {
    return [...this.#running.values()].filter(({ memory }) => !memory.waiting).length;
  }

  /**
   * How long the oldest paid call of this replica has waited for its bundle, in ms; 0 without one. Calls that can only
   * wait do not count: their cause delays no other call.
   */
  get queueAge(): number {
    const isQueued = ({ call, memory }: Running) => !isUnpaid(call.state) && !isFinal(call.state) && !memory.waiting;
    const waiting = [...this.#running.values()].filter(isQueued);
    const now = this.#options.clock.now();
    return Math.max(0, ...waiting.map(({ paidSince = now }) => now - paidSince));
  }

  /** Takes every call that no other replica carries, now and from now on. */
  resume(): Promise<void> {
    return this.#leases.begin();
  }

  /**
   * Carries a call, unless a loop of it runs already or another replica has its lease.
   *
   * @returns resolves at its end; never rejects
   */
  start(call: Call): Promise<void> {
    const running = this.#running.get(call.key);
    // The lease was lost and won again: without the wait two loops would carry the call.
    if (running?.end.signal.aborted) return running.done.then(() => this.start(call));
    if (running) return running.done;
    if (isAtRest(call) || this.#stop.signal.aborted || !this.#options.journal.holds(call.key)) return Promise.resolve();
    const started: Running = { call, done: Promise.resolve(), memory: { failures: 0 }, end: new AbortController() };
    this.#running.set(call.key, started);
    started.done = this.#carry(started).finally(() => {
      this.#running.delete(call.key);
      this.#waiters.wake(call.key);
    });
    return started.done;
  }

  /**
   * Waits until a call is final, whichever replica carries it, or until the signal ends the wait.
   *
   * @returns the call as it was last committed, as far as this replica knows
   */
  async wait(call: Call, signal: AbortSignal): Promise<Call> {
    const { journal, clock } = this.#options;
    const enough = AbortSignal.any([signal, this.#stop.signal]);
    let known = call;
    void this.start(call);
    for (;;) {
      // Begun before the row is read, so that an end in between is not missed.
      const news = this.#waiters.wait(call.key, deadline(clock, POLL_MS, enough));
      const running = this.#running.get(call.key);
      known = running?.call ?? (await journal.find(call.key).catch(() => undefined)) ?? known;
      if (isFinal(known.state) || enough.aborted) return known;
      await news;
      if (running && isFinal(running.call.state)) return running.call;
    }
  }

  /** Ends every loop at its next step, and releases the leases: another replica, or the next process, continues. */
  async stop(): Promise<void> {
    const { journal, log } = this.#options;
    const reason = new Error("the runner is stopping");
    this.#stop.abort(reason);
    this.#unlisten();
    const loops = [...this.#running.values()];
    for (const { end } of loops) end.abort(reason);
    await Promise.all([this.#leases.stop(), ...loops.map(({ done }) => done)]);
    await journal
      .release()
      .catch((err: unknown) => log.warn({ err }, "the leases could not be released: they run out"));
  }

  /** Safe at any point: an uncommitted event did not happen, and every effect may happen twice. */
  #drop(key: string): void {
    const running = this.#running.get(key);
    if (!running) return;
    this.#options.log.warn({ key, state: running.call.state }, "lease lost: another replica carries the call");
    running.end.abort(new Error("the lease was lost"));
  }

  async #carry(running: Running): Promise<void> {
    const { memory } = running;
    const { signal } = running.end;
    while (!isAtRest(running.call) && !signal.aborted) {
      try {
        const { call } = running;
        if (!isUnpaid(call.state)) running.paidSince ??= this.#options.clock.now();
        const event = await this.#options.perform(call, nextEffect(call), memory, signal);
        // Before the commit: an event has a next effect, so that the call counts as active again.
        if (event) memory.waiting = false;
        if (event) await this.#commit(running, event);
        memory.failures = 0;
      } catch (error) {
        if (!signal.aborted) await this.#recover(running, memory, error);
      }
    }
  }

  /** A failed effect changed nothing but what was committed: logs, pauses, reads the row again. */
  async #recover(running: Running, memory: Memory, error: unknown): Promise<void> {
    if (hasCode(error, "call_stale") && (await this.#reread(running))) return;
    const { clock, log } = this.#options;
    const { key, state } = running.call;
    memory.failures += 1;
    log.warn({ err: error, key, state, failures: memory.failures }, "call held up");
    await clock.sleep(pauseAfter(memory.failures), running.end.signal).catch(() => undefined);
    await this.#reread(running);
    const owed = running.call.state === "paid" || running.call.state === "signed";
    if (owed && memory.failures >= OWED_AFTER_FAILURES) {
      const reason = error instanceof Error ? error.message : String(error);
      await this.#commit(running, { type: "attestation_blocked", reason }).catch(() => undefined);
    }
  }

  /** @returns whether another writer had moved the row */
  async #reread(running: Running): Promise<boolean> {
    const found = await this.#options.journal.find(running.call.key).catch(() => undefined);
    if (!found || found.version === running.call.version) return false;
    running.call = found;
    // The event that it waited for may have happened.
    running.memory.waiting = false;
    return true;
  }

  async #commit(running: Running, event: CallEvent): Promise<void> {
    const { journal, log } = this.#options;
    const before = running.call;
    const after = reduce(before, event);
    await journal.update(after);
    running.call = after;
    const line = { key: after.key, from: before.state, to: after.state, ...(after.reason && { reason: after.reason }) };
    if (after.state === "owed" || after.state === "loss") log.error(line, event.type);
    else log.info(line, event.type);
    if (isFinal(after.state)) this.#waiters.wake(after.key);
  }
}
