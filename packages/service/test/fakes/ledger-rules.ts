import type { Submission, Window } from "../../src/ledger/ledger.ts";

/** What may enter a round. */
export type LedgerTransaction = Window & {
  id: string;
  /** No other transaction with it may be confirmed until the last round of the one that holds it has passed. */
  lease?: string;
  /** Why it cannot be confirmed now, if so. */
  unavailableReason(): string | undefined;
  /** It is in a round: does what it says. */
  confirm(round: number): void;
};

/** The rules by which Algorand takes transactions: rounds, each final; a pool; validity windows, leases, no id twice. */
export class LedgerRules {
  /** The latest round. */
  round: number;
  readonly #rounds = new Map<number, string[]>();
  readonly #roundOf = new Map<string, number>();
  readonly #pool = new Map<string, LedgerTransaction>();
  /** The last round that each lease is held for. */
  readonly #leases = new Map<string, number>();

  constructor(round: number) {
    this.round = round;
  }

  /** The round that holds a transaction, if one does. */
  roundOf(id: string): number | undefined {
    return this.#roundOf.get(id);
  }

  /** The ids in a round that has come. */
  idsIn(round: number): string[] {
    return this.#rounds.get(round) ?? [];
  }

  /** How many transactions wait for a round. */
  get pending(): number {
    return this.#pool.size;
  }

  /** Takes a transaction into the pool, or returns algod's reason why not. Like algod, it checks against the next round. */
  submit(transaction: LedgerTransaction): Submission {
    const { id, lease, firstValid, lastValid } = transaction;
    const next = this.round + 1;
    if (next < firstValid) return { status: "retry", reason: "txn dead" };
    if (next > lastValid) return { status: "expired", reason: "txn dead" };
    if (this.#roundOf.has(id) || this.#pool.has(id)) return { status: "accepted" };
    if (lease !== undefined && this.#isLeased(lease, next)) return { status: "leased", reason: "overlapping lease" };
    const unavailableReason = transaction.unavailableReason();
    if (unavailableReason !== undefined) return { status: "unfunded", reason: unavailableReason };
    this.#pool.set(id, transaction);
    return { status: "accepted" };
  }

  #isLeased(lease: string, round: number): boolean {
    if ((this.#leases.get(lease) ?? 0) >= round) return true;
    return [...this.#pool.values()].some((pending) => pending.lease === lease);
  }

  /** Makes the next round of what is in the pool. @param isLeftOut whether one that could be confirmed waits for a later round */
  makeRound(isLeftOut: () => boolean): void {
    const round = ++this.round;
    const ids: string[] = [];
    this.#rounds.set(round, ids);
    for (const transaction of this.#pool.values()) {
      const { id, lease, lastValid } = transaction;
      if (round > lastValid || transaction.unavailableReason() !== undefined) {
        this.#pool.delete(id);
        continue;
      }
      if (isLeftOut()) continue;
      this.#pool.delete(id);
      if (lease !== undefined) this.#leases.set(lease, lastValid);
      this.#roundOf.set(id, round);
      ids.push(id);
      transaction.confirm(round);
    }
  }

  /** Forgets what waits, as a node's pool may. */
  losePool(): void {
    this.#pool.clear();
  }
}
