import { hash } from "node:crypto";
import type { Algod } from "../providers/algorand.ts";
import type { AlgorandNodes } from "../providers/algorand-lookup.ts";
import { agree } from "../providers/quorum.ts";
import { RoundMemory } from "./round-memory.ts";

/**
 * The ids in rounds from before the memory began, each read once for everyone who has to know that a transaction is not in
 * it: after a restart, all that was open then has windows of up to 1,000 such rounds.
 */
export class OlderRounds {
  readonly #nodes: AlgorandNodes;
  /** By round, in the order in which they were read. */
  readonly #ids = new Map<number, ReadonlySet<string>>();
  #count = 0;

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
    this.#keep(round, ids);
    return ids.has(id);
  }

  #keep(round: number, ids: ReadonlySet<string>): void {
    if (this.#ids.has(round)) return;
    this.#ids.set(round, ids);
    this.#count += ids.size;
    for (const [oldest, { size }] of this.#ids) {
      if (this.#ids.size <= RoundMemory.ROUNDS && this.#count <= RoundMemory.IDS) return;
      this.#ids.delete(oldest);
      this.#count -= size;
    }
  }
}

function digestOf(ids: readonly string[]): string {
  return hash("sha256", ids.join());
}
