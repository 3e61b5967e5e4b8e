type Listener = (event: { type: "abort"; target: unknown }) => void;

const ABORTED = new DOMException("This operation was aborted", "AbortError");

/**
 * AbortSignal (DOM standard, 3.2) without the platform's weak references and event objects, which cost as much as all
 * else that a schedule does. `abort` returns whether it had listeners: a time-out without listeners is no event.
 */
export class PlainSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: { listener: Listener; once: boolean }[] = [];
  #dependents: PlainSignal[] = [];

  static any(signals: readonly PlainSignal[]): PlainSignal {
    const dependent = new PlainSignal();
    const first = signals.find(({ aborted }) => aborted);
    if (first) {
      dependent.aborted = true;
      dependent.reason = first.reason;
    } else for (const signal of signals) signal.#dependents.push(dependent);
    return dependent;
  }

  static abort(reason: unknown = ABORTED): PlainSignal {
    const signal = new PlainSignal();
    signal.abort(reason);
    return signal;
  }

  static timeout(): never {
    throw new Error("time comes from the clock that was given");
  }

  addEventListener(_type: "abort", listener: Listener, options?: { once?: boolean }): void {
    if (this.aborted || this.#listeners.some((entry) => entry.listener === listener)) return;
    this.#listeners.push({ listener, once: options?.once === true });
  }

  removeEventListener(_type: "abort", listener: Listener): void {
    const place = this.#listeners.findIndex((entry) => entry.listener === listener);
    if (place >= 0) this.#listeners.splice(place, 1);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** @returns whether it had listeners */
  abort(reason: unknown): boolean {
    const reached = this.#mark(reason, []);
    let heard = false;
    for (const signal of reached) {
      const listeners = signal.#listeners;
      signal.#listeners = [];
      for (const { listener } of listeners) {
        heard = true;
        listener({ type: "abort", target: signal });
      }
    }
    return heard;
  }

  /** Every dependent is aborted before the first listener runs (DOM standard, "signal abort"). */
  #mark(reason: unknown, reached: PlainSignal[]): PlainSignal[] {
    if (this.aborted) return reached;
    this.aborted = true;
    this.reason = reason;
    reached.push(this);
    const dependents = this.#dependents;
    this.#dependents = [];
    for (const dependent of dependents) dependent.#mark(reason, reached);
    return reached;
  }
}

export class PlainController {
  readonly signal = new PlainSignal();

  abort(reason: unknown = ABORTED): boolean {
    return this.signal.abort(reason);
  }
}

/** Puts plain signals in the place of the platform's, in this thread and for good. */
export function installPlainSignals(): void {
  Object.assign(globalThis, { AbortSignal: PlainSignal, AbortController: PlainController });
}
