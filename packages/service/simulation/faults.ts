import type { Random } from "./random.ts";

/** Those whom a process of the service asks. */
export type Upstream = "journal" | "facilitator" | "second facilitator" | "ledger" | "rounds" | "payments" | "sources";

/** What becomes of a question. */
export type Fate =
  | "well"
  /** It never arrives, and the asker gets an error at once. */
  | "refused"
  /** It never arrives, and the asker gets no error. */
  | "lost"
  /** It has its effect; the answer is cut off. */
  | "cut"
  /** It has its effect; no answer ever comes. */
  | "unanswered"
  /** It arrives late, perhaps after the asker has given up. */
  | "slow";

/** What a facilitator can do wrong though every question and answer arrives. */
export type Lie =
  /** Says that it has settled, and has not. */
  | "false success"
  /** Settles, and says that it has failed. */
  | "false failure"
  /** Settles, and says that it has not finished. */
  | "pending"
  /** Says that it has not finished, and never sends anything. */
  | "false pending"
  /** Does nothing, and asks to be asked less. */
  | "limited"
  /** Settles twice. */
  | "double"
  /** Says that a good payment is none. */
  | "false refusal"
  /** Says that any payment is good. */
  | "false approval";

export type FaultOptions = {
  random: Random;
  now(): number;
  /** Called with the kind of each fault that occurs. */
  count(kind: string): void;
};

const FACILITATOR_FATES: readonly Fate[] = ["refused", "lost", "cut", "unanswered", "slow", "slow"];
/** A request without an answer is aborted in time; the journal has no deadlines, so that it must fail with an error. */
const FATES: Record<Upstream, readonly Fate[]> = {
  journal: ["refused", "cut", "slow"],
  facilitator: FACILITATOR_FATES,
  "second facilitator": FACILITATOR_FATES,
  ledger: ["refused", "lost", "cut", "unanswered", "slow"],
  // A node that reports no new rounds, and still accepts transactions.
  rounds: ["refused"],
  payments: ["refused", "lost", "slow"],
  sources: ["refused", "lost"],
};
const UPSTREAMS = Object.keys(FATES) as Upstream[];
/** How often a question to an upstream goes wrong: in most schedules, few upstreams are ill. */
const RATES = [0, 0, 0, 0.05, 0.2, 0.5] as const;
const MAX_OUTAGE_MS = 90_000;

type Outage = { from: number; until: number };

/** What goes wrong in one schedule, until it heals. */
export class Faults {
  /** Unix ms at which everything worked again; Infinity until then. */
  healedAt = Number.POSITIVE_INFINITY;
  /** Whether blocks of chains that are not final at once may be left behind. */
  readonly forks: boolean;
  readonly #met = new Set<Upstream>();
  readonly #count: (kind: string) => void;
  readonly #random: Random;
  readonly #now: () => number;
  readonly #rates = new Map<Upstream, number>();
  readonly #outages = new Map<Upstream, Outage>();
  readonly #lies: number;

  constructor({ random, now, count }: FaultOptions) {
    this.#count = count;
    this.#random = random;
    this.#now = now;
    this.#lies = random.pick(RATES);
    this.forks = random.chance(0.1);
    for (const upstream of UPSTREAMS) {
      this.#rates.set(upstream, random.pick(RATES) * (upstream === "journal" ? 0.3 : 1));
      if (!random.chance(0.1)) continue;
      const from = now() + random.below(20_000);
      this.#outages.set(upstream, { from, until: from + random.below(MAX_OUTAGE_MS) });
    }
  }

  /** From now on everything works. */
  heal(): void {
    this.healedAt = this.#now();
  }

  get healed(): boolean {
    return this.healedAt < Number.POSITIVE_INFINITY;
  }

  fate(upstream: Upstream): Fate {
    if (this.healed) return "well";
    const outage = this.#outages.get(upstream);
    const out = outage && this.#now() >= outage.from && this.#now() < outage.until;
    if (!out && !this.#random.chance(this.#rates.get(upstream) ?? 0)) return "well";
    const fate = out ? "refused" : this.#random.pick(FATES[upstream]);
    this.#met.add(upstream);
    this.count(`${upstream} ${fate}`);
    return fate;
  }

  /** How late a slow question is, in ms. */
  delay(upstream: Upstream): number {
    return this.#random.below(upstream === "journal" ? 4_000 : 40_000);
  }

  /** A time below this one, in ms. */
  below(ms: number): number {
    return this.#random.below(ms);
  }

  /** Whether a facilitator gives this wrong answer now. */
  lies(lie: Lie): boolean {
    if (this.healed || !this.#random.chance(this.#lies)) return false;
    this.count(`facilitator ${lie}`);
    return true;
  }

  /** Whether a block of a chain that is not final at once is going to be left behind. */
  reorganises(): boolean {
    return this.forks && !this.healed && this.#random.chance(0.5);
  }

  /** Whether an upstream has failed anybody by now. */
  areMet(upstream: Upstream): boolean {
    return this.#met.has(upstream);
  }

  count(kind: string): void {
    this.#count(`fault: ${kind}`);
  }
}
