import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Call } from "./call.ts";
import { type Memory, type Perform, pauseAfter } from "./effects.ts";
import { type CallEvent, isFinal, nextEffect, reduce } from "./machine.ts";
import { StaleCall, type Store } from "./store.ts";

export type RunnerOptions = { store: Store; perform: Perform; clock: Clock; log: Logger };

/** Failures in a row after which a paid call counts as owed, and the operator is told. */
const OWED_AFTER_FAILURES = 3;

type Running = {
  /** As last committed. */
  call: Call;
  done: Promise<void>;
  watchers: Set<() => void>;
};

/**
 * Carries calls to their end, one loop a call, whatever becomes of the request that began it.
 *
 * Every event is committed before the effect that follows from it. The loops keep nothing that a restart would miss:
 * after a crash, `resume` takes each open call up from its row.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #running = new Map<string, Running>();
  readonly #stop = new AbortController();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** How many calls are being carried now. */
  get active(): number {
    return this.#running.size;
  }

  /** Takes up every call that is not final. */
  async resume(): Promise<void> {
    for (const call of await this.#options.store.open()) this.start(call);
  }

  /** Carries a call, unless that is being done already. @returns a promise of its end; it never rejects */
  start(call: Call): Promise<void> {
    const running = this.#running.get(call.key);
    if (running) return running.done;
    if (isFinal(call.state) || this.#stop.signal.aborted) return Promise.resolve();
    const started: Running = { call, done: Promise.resolve(), watchers: new Set() };
    this.#running.set(call.key, started);
    started.done = this.#carry(started).finally(() => this.#running.delete(call.key));
    return started.done;
  }

  /**
   * Waits until a call is final, or the signal ends the wait.
   *
   * @returns the call as it was last committed
   */
  async wait(call: Call, signal: AbortSignal): Promise<Call> {
    this.start(call);
    const running = this.#running.get(call.key);
    if (!running) return (await this.#options.store.find(call.key)) ?? call;
    return new Promise((resolve) => {
      const finish = () => {
        running.watchers.delete(watch);
        signal.removeEventListener("abort", finish);
        resolve(running.call);
      };
      const watch = () => {
        if (isFinal(running.call.state)) finish();
      };
      running.watchers.add(watch);
      signal.addEventListener("abort", finish);
      void running.done.then(finish);
      if (signal.aborted) finish();
    });
  }

  /** Ends every loop where it stands: the next process takes the calls up. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the runner is stopping"));
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #carry(running: Running): Promise<void> {
    const memory: Memory = { failures: 0 };
    const stop = this.#stop.signal;
    while (!isFinal(running.call.state) && !stop.aborted) {
      try {
        const { call } = running;
        const event = await this.#options.perform(call, nextEffect(call), memory, stop);
        if (!event) continue;
        await this.#commit(running, event);
        memory.failures = 0;
      } catch (error) {
        if (!stop.aborted) await this.#recover(running, memory, error);
      }
    }
  }

  /** What failed left nothing behind but what was committed: log, pause, read the row again. */
  async #recover(running: Running, memory: Memory, error: unknown): Promise<void> {
    const { store, clock, log } = this.#options;
    const { key, state } = running.call;
    if (!(error instanceof StaleCall)) {
      memory.failures += 1;
      log.warn({ err: error, key, state, failures: memory.failures }, "call held up");
      await clock.sleep(pauseAfter(memory.failures), this.#stop.signal).catch(() => undefined);
    }
    running.call = (await store.find(key).catch(() => undefined)) ?? running.call;
    const owed = running.call.state === "paid" || running.call.state === "signed";
    if (owed && memory.failures === OWED_AFTER_FAILURES) {
      const reason = error instanceof Error ? error.message : String(error);
      await this.#commit(running, { type: "attestation_blocked", reason }).catch(() => undefined);
    }
  }

  async #commit(running: Running, event: CallEvent): Promise<void> {
    const { store, log } = this.#options;
    const before = running.call;
    const after = reduce(before, event);
    await store.update(after);
    running.call = after;
    const line = { key: after.key, from: before.state, to: after.state, ...(after.reason && { reason: after.reason }) };
    if (after.state === "owed" || after.state === "loss") log.error(line, event.type);
    else log.info(line, event.type);
    for (const watch of running.watchers) watch();
  }
}
