import type { KeyHistory } from "@attestd/proof";
import { type KeyView, obstacleTo, readView } from "./history.ts";
import type { KeyJournal } from "./key-journal.ts";

export type KeyWatchOptions = {
  journal: Pick<KeyJournal, "keys" | "revocations" | "announced">;
  /** Of the key that this replica signs with. */
  kid: string;
  /** As the history was opened. */
  view: KeyView;
  now: () => number;
  /** Called once, when the key may no longer be used. */
  onObstacle: (sentence: string) => void;
};

/** How old the history may be when a key signs, in ms. */
const FRESH_MS = 5_000;

/**
 * Follows the key history while the service runs: another process may add to it, and a replica that missed a rotation
 * must not sell under the old key. Once this process may not use its key, it never uses it again.
 */
export class KeyWatch {
  readonly #options: KeyWatchOptions;
  #view: KeyView;
  #readAt: number;
  #obstacle: string | undefined;

  constructor(options: KeyWatchOptions) {
    this.#options = options;
    this.#view = options.view;
    this.#readAt = options.now();
  }

  /** As it was last read. */
  get history(): KeyHistory {
    return this.#view.history;
  }

  /** Why our key may not sign any more, as one sentence. */
  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** Reads the history again. @throws Error when the journal cannot be read; the history read before stays */
  async refresh(): Promise<void> {
    const { journal, kid, now, onObstacle } = this.#options;
    const asked = now();
    this.#view = await readView(journal, this.#view.history.ledger);
    this.#readAt = asked;
    const obstacle = obstacleTo(kid, this.#view);
    if (obstacle === undefined || this.#obstacle !== undefined) return;
    this.#obstacle = obstacle;
    onObstacle(obstacle);
  }

  /** Checks that our key may sign now. @throws Error with the reason when it may not, or the journal cannot be read */
  async confirm(): Promise<void> {
    if (Math.abs(this.#options.now() - this.#readAt) > FRESH_MS) await this.refresh();
    if (this.#obstacle !== undefined) throw new Error(this.#obstacle);
  }
}
