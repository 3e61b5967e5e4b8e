/** How a request went, as far as it tells whether the upstream is there: `unclear` tells nothing. */
export type Vote = "answered" | "failed" | "unclear";

export type BreakerOptions = {
  /** Failures in a row after which the upstream is left alone for a while. */
  breakAfter?: number;
  /** The first rest, in ms; every one that ends in another failure is followed by one twice as long, up to the longest. */
  firstRestMs?: number;
  longestRestMs?: number;
  /** Monotonic, in ms. */
  now?: () => number;
};

/** The upstream is left alone after repeated failures: nothing was sent. */
export class Resting extends Error {}

/**
 * Leaves an upstream alone while it fails. After each rest one request at a time tries it; the others still fail fast, so
 * that nobody waits behind a try.
 */
export class Breaker {
  readonly #breakAfter: number;
  readonly #firstRestMs: number;
  readonly #longestRestMs: number;
  readonly #now: () => number;
  #failures = 0;
  #restMs: number;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isTrying = false;

  constructor({ breakAfter = 5, firstRestMs = 1_000, longestRestMs = 30_000, now }: BreakerOptions = {}) {
    this.#breakAfter = breakAfter;
    this.#firstRestMs = firstRestMs;
    this.#longestRestMs = longestRestMs;
    this.#now = now ?? (() => performance.now());
    this.#restMs = firstRestMs;
  }

  /** Whether nothing but a try after the rest may be sent. */
  get isOpen(): boolean {
    return this.#failures >= this.#breakAfter;
  }

  /** Whether the upstream is left alone now, and not even tried. */
  get isResting(): boolean {
    return this.isOpen && this.#now() < this.#restsUntil;
  }

  /**
   * Runs a request that votes once it has ended; one that has not voted is `unclear`.
   *
   * @throws Resting when nothing may be sent now; whatever the request throws
   */
  async run<T>(request: (vote: (vote: Vote) => void) => Promise<T>): Promise<T> {
    const isTry = this.isOpen;
    if (isTry && (this.#isTrying || this.isResting)) throw new Resting();
    if (isTry) this.#isTrying = true;
    try {
      return await request((vote) => this.#count(vote, isTry));
    } finally {
      if (isTry) this.#isTrying = false;
    }
  }

  /** Hears of a request that it did not run: it may have been sent while the upstream was left alone. */
  note(vote: Vote): void {
    this.#count(vote, this.isOpen && !this.isResting);
  }

  #count(vote: Vote, isTry: boolean): void {
    if (vote === "answered") {
      this.#failures = 0;
      this.#restMs = this.#firstRestMs;
    }
    if (vote !== "failed") return;
    this.#failures += 1;
    // Those that were under way when it broke say nothing new.
    if (this.#failures !== this.#breakAfter && !isTry) return;
    this.#restsUntil = this.#now() + this.#restMs;
    this.#restMs = Math.min(this.#restMs * 2, this.#longestRestMs);
  }
}
