import { splitBlock } from "@attestd/proof/algorand";
import { type BlockTransaction, blockTransactions, type StoredBlock } from "./block.ts";

/** Location of a transaction: its round, and its index in the payset. */
export interface Location {
  round: number;
  index: number;
}

/** All blocks of a sandbox, recorded and its own, by round. Rounds are added in ascending order and never change. */
export class BlockStore {
  readonly #blocks = new Map<number, StoredBlock>();
  readonly #locations = new Map<string, Location>();
  /** Ascending, without empty rounds. */
  readonly #paysetRounds: number[] = [];

  add(block: StoredBlock): void {
    this.#blocks.set(block.round, block);
    if (block.txids.length > 0) this.#paysetRounds.push(block.round);
    for (const [index, id] of block.txids.entries()) this.#locations.set(id, { round: block.round, index });
  }

  block(round: number): StoredBlock | undefined {
    return this.#blocks.get(round);
  }

  locate(txid: string): Location | undefined {
    return this.#locations.get(txid);
  }

  /** Rounds that have transactions, ascending. */
  paysetRounds(): readonly number[] {
    return this.#paysetRounds;
  }

  /** The transactions of a round, in payset order; none when there is no such block. */
  payset(round: number): BlockTransaction[] {
    const stored = this.#blocks.get(round);
    return stored === undefined ? [] : blockTransactions(splitBlock(stored.bytes));
  }
}
