import { ServiceError } from "../lib/errors.ts";

/** What the outcome of a request shows about the upstream; `unclear` shows nothing. */
export type Vote = "answered" | "failed" | "unclear";

export type BreakerOptions = {
  /** The number of consecutive failures after which the breaker opens. */
  breakAfter?: number;
  /** The first pause, in ms. A failure after a pause doubles the next one, up to `maxRestMs`. */
  firstRestMs?: number;
  maxRestMs?: number;
  /** Monotonic, in ms. */
  now?: () => number;
  /** Called when the breaker opens and when it closes. */
  onSwitch?: (isOpen: boolean) => void;
};

/**
 * A circuit breaker: sends nothing to an upstream while it fails. After each pause one request at a time probes it; the
 * others still fail at once, so that none waits behind the probe.
 */
export class Breaker {
  readonly #options: Required<BreakerOptions>;
  #failures = 0;
  #restMs: number;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isProbing = false;

  constructor(options: BreakerOptions = {}) {
    const defaults = {
      breakAfter: 5,
      firstRestMs: 1_000,
      maxRestMs: 30_000,
      now: () => performance.now(),
      onSwitch: () => undefined,
    };
    this.#options = { ...defaults, ...options };
    this.#restMs = this.#options.firstRestMs;
  }

  /** Whether only a probe may be sent, after the pause. */
  get isOpen(): boolean {
    return this.#failures >= this.#options.breakAfter;
  }

  /** Whether nothing may be sent now, not even a probe. */
  get isResting(): boolean {
    return this.isOpen && this.#options.now() < this.#restsUntil;
  }

  /**
   * Runs a request, which votes when it has ended; without a vote it counts as `unclear`.
   * @throws breaker_open when nothing may be sent now; any error of the request
   */
  async run<T>(request: (vote: (vote: Vote) => void) => Promise<T>): Promise<T> {
    const isProbe = this.isOpen;
    if (isProbe && (this.#isProbing || this.isResting))
      throw new ServiceError("breaker_open", "is not asked for a while, after repeated failures");
    if (isProbe) this.#isProbing = true;
    try {
      return await request((vote) => this.#count(vote, isProbe));
    } finally {
      if (isProbe) this.#isProbing = false;
    }
  }

  /** Counts a request that the breaker did not run, and that may have been sent during a pause. */
  note(vote: Vote): void {
    this.#count(vote, this.isOpen && !this.isResting);
  }

  #count(vote: Vote, isProbe: boolean): void {
    if (vote === "answered") {
      if (this.isOpen) this.#options.onSwitch(false);
      this.#failures = 0;
      this.#restMs = this.#options.firstRestMs;
    }
    if (vote !== "failed") return;
    this.#failures += 1;
    if (this.#failures === this.#options.breakAfter) this.#options.onSwitch(true);
    // A request that was pending when the breaker opened shows nothing new.
    if (this.#failures !== this.#options.breakAfter && !isProbe) return;
    this.#restsUntil = this.#options.now() + this.#restMs;
    this.#restMs = Math.min(this.#restMs * 2, this.#options.maxRestMs);
  }
}
