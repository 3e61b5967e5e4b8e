import { type HistoryOptions, openHistory, readView, whyUnusable } from "./history.ts";

export type KeyWatchOptions = HistoryOptions & {
  now: () => number;
  /** Called once, when the key may no longer sign. */
  onUnusable: (sentence: string) => void;
};

/** The greatest age of the history when a key signs, in ms. */
const FRESH_MS = 5_000;

/**
 * Opens the key history, and follows it while the service runs: another process may add to it, and a replica that
 * missed a rotation must not sell with the old key. Once this process may not use its key, it never uses it again.
 * @throws as `openHistory`
 */
export async function openKeyWatch({ now, onUnusable: onUnavailable, ...options }: KeyWatchOptions) {
  const { journal, signer } = options;
  let { history } = await openHistory(options);
  let readAt = now();
  let unavailableReason: string | undefined;

  /** Reads the history again. @throws Error when the journal cannot be read; the history read before remains */
  async function refresh(): Promise<void> {
    const asked = now();
    const read = await readView(journal, history.ledger);
    history = read.history;
    readAt = asked;
    if (unavailableReason !== undefined) return;
    unavailableReason = whyUnusable(signer.kid, read);
    if (unavailableReason !== undefined) onUnavailable(unavailableReason);
  }

  return {
    /** Returns the history as last read. */
    history: () => history,
    /** Returns why our key may no longer sign, in one sentence; undefined when it may. */
    unavailableReason: () => unavailableReason,
    refresh,
    /**
     * Checks that our key may sign now. @throws Error with the reason when it may not, or the journal cannot be read
     */
    async confirm(): Promise<void> {
      if (Math.abs(now() - readAt) > FRESH_MS) await refresh();
      if (unavailableReason !== undefined) throw new Error(unavailableReason);
    },
  };
}
