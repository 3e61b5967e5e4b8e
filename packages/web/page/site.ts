import type { KeyList } from "../src/trust-basis.ts";
import type { Judging } from "./judging.ts";
import type { Storage } from "./storage.ts";

/** What every view works with. */
export type Site = {
  judging: Judging;
  /** Undefined where the browser lets a page keep nothing. */
  storage: Storage | undefined;
  /** In whom this page believes: `current` is the list served, or one that was dropped, see `givenBeside`. */
  keys: { served: KeyList | undefined; current: KeyList | undefined };
  /** Resolves once the served key list is there, or is known not to come. */
  keysReady: Promise<void>;
  /**
   * Shows a view.
   * @param focus whether it is a result, which the reader is taken to; whoever is in the view that it replaces is anyway
   */
  show(view: readonly Node[], how: { title: string; focus: boolean }): void;
  /** Tells of progress, for those who listen. */
  say(progress: string): void;
  /** Opens a bundle in the verify view. */
  openBundle(bytes: Uint8Array): void;
};
