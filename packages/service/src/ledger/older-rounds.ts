import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Algod } from "../providers/algod.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import { agree } from "../providers/quorum.ts";
import { RoundMemory } from "./round-memory.ts";

/**
 * The ids in rounds from before the memory began, each read once for everyone who has to know that a transaction is not in
 * it: after a restart, all that was open then has windows of up to 1,000 such rounds.
 */
export class OlderRounds {
  readonly #nodes: AlgorandNodes;
  /** By round. An empty round counts as one id. */
  readonly #ids = new LRUCache<number, ReadonlySet<string>>({
    max: RoundMemory.ROUNDS,
    maxSize: RoundMemory.IDS,
    sizeCalculation: ({ size }) => Math.max(1, size),
  });

  constructor(nodes: AlgorandNodes) {
    this.#nodes = nodes;
  }

  /** Whether a round holds a transaction, by the quorum's lists of its ids. @throws ProviderError */
  async holds(id: string, round: number, signal: AbortSignal): Promise<boolean> {
    const known = this.#ids.get(round);
    if (known) return known.has(id);
    const ask = (algod: Algod, ends: AbortSignal) => algod.blockTransactionIds(round, ends);
    const question = { about: `the transactions of round ${round}`, same: digestOf, signal };
    const [listed] = await agree(this.#nodes.algods, ask, question, this.#nodes.rules);
    const ids = new Set(listed);
    this.#ids.set(round, ids);
    return ids.has(id);
  }
}

function digestOf(ids: readonly string[]): string {
  return hash("sha256", ids.join());
}
