import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Algod } from "../providers/algod.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import { agree } from "../providers/quorum.ts";

/**
 * The ids of the transactions in the latest rounds. Invariant: the rounds are consecutive, from `oldest` to `latest`,
 * so that an absent id is in none of them.
 */
export class RoundMemory {
  /** The limit of rounds: the 1,001 in which a transaction may be, from its first to its last, and time to look. */
  static readonly ROUNDS = 1_100;
  /** The limit of ids (some 100 bytes each), unless a single round has more. */
  static readonly IDS = 500_000;

  readonly #roundOf = new Map<string, number>();
  readonly #ids: string[][] = [];
  #latest = 0;

  /** The latest round held, 0 before the first. */
  get latest(): number {
    return this.#latest;
  }

  /** The oldest round held; Infinity when there is none. */
  get oldest(): number {
    return this.#ids.length === 0 ? Number.POSITIVE_INFINITY : this.#latest - this.#ids.length + 1;
  }

  roundOf(id: string): number | undefined {
    return this.#roundOf.get(id);
  }

  /** Adds a round. A round that does not follow the latest one replaces the memory's contents. */
  add(round: number, ids: string[]): void {
    if (round !== this.#latest + 1) {
      this.#ids.length = 0;
      this.#roundOf.clear();
    }
    this.#latest = round;
    this.#ids.push(ids);
    for (const id of ids) this.#roundOf.set(id, round);
    while (this.#ids.length > RoundMemory.ROUNDS || (this.#roundOf.size > RoundMemory.IDS && this.#ids.length > 1))
      this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const id of this.#ids.shift() ?? []) this.#roundOf.delete(id);
  }
}

/**
 * Reads the ids of rounds from before the memory began, each round once. After a restart, earlier open transactions
 * have windows of up to 1,000 such rounds.
 */
export function olderRounds({ algods, rules }: AlgorandNodes) {
  /** Ids by round. An empty round counts as one id. */
  const read = new LRUCache<number, ReadonlySet<string>>({
    max: RoundMemory.ROUNDS,
    maxSize: RoundMemory.IDS,
    sizeCalculation: ({ size }) => Math.max(1, size),
  });

  /** Whether a round contains a transaction, by the quorum's lists of its ids. @throws ProviderError */
  return async (id: string, round: number, signal: AbortSignal): Promise<boolean> => {
    const known = read.get(round);
    if (known) return known.has(id);
    const ask = (algod: Algod, ends: AbortSignal) => algod.blockTransactionIds(round, ends);
    const same = (ids: readonly string[]) => hash("sha256", ids.join());
    const question = { about: `the transactions of round ${round}`, same, signal };
    const [listed] = await agree(algods, ask, question, rules);
    const ids = new Set(listed);
    read.set(round, ids);
    return ids.has(id);
  };
}
