import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Call } from "./call.ts";
import { type Journal, LEASE_MS } from "./journal.ts";

export type LeasesOptions = {
  journal: Journal;
  clock: Clock;
  log: Logger;
  /** Called with each call whose lease this replica took. */
  take(call: Call): void;
  /** Called with the key of each call whose lease this replica lost. */
  drop(key: string): void;
};

/** Two heartbeats may be lost before the leases are. */
export const HEARTBEAT_MS = LEASE_MS / 3;
/** Leases taken at once: a bound, so that those of a dead replica spread over the living. */
const MAX_LEASES_AT_ONCE = 100;

/**
 * Renews the leases of this replica, and takes free ones: of calls that an earlier run left, and of replicas that died or
 * released them.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #stop = new AbortController();
  /** Ends the pause before the next round. */
  #pause = new AbortController();
  #kept: Promise<void> = Promise.resolve();
  #unlisten: (() => void) | undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Takes the leases that are free now, and goes on until `stop`. */
  async begin(): Promise<void> {
    this.#unlisten = this.#options.journal.listen({ freed: () => this.#pause.abort() });
    await this.#round();
    this.#kept = this.#keep();
  }

  /** Ends the rounds. The leases stand until they are released or run out. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the leases are no longer kept"));
    this.#unlisten?.();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    const { clock, log } = this.#options;
    const stop = this.#stop.signal;
    for (;;) {
      await clock.sleep(HEARTBEAT_MS, AbortSignal.any([stop, this.#pause.signal])).catch(() => undefined);
      if (stop.aborted) return;
      // Before the round: leases that are released while it runs start another.
      this.#pause = new AbortController();
      await this.#round().catch((err: unknown) => log.warn({ err }, "the leases could not be renewed"));
    }
  }

  async #round(): Promise<void> {
    const { journal, take, drop } = this.#options;
    for (const key of await journal.renew()) drop(key);
    for (let more = true; more && !this.#stop.signal.aborted; ) {
      const calls = await journal.lease(MAX_LEASES_AT_ONCE);
      for (const call of calls) take(call);
      more = calls.length === MAX_LEASES_AT_ONCE;
    }
  }
}
