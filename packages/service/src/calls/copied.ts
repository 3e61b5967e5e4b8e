import type { OpenCall } from "./journal.ts";

/*
 * A journal that was put back from a copy lacks what came after it: a call that the copy has open may have been attested for
 * since, and delivered. A second attestation for one payment would be a false statement on the ledger for ever, so that
 * the ledger is searched before such a call signs.
 */

/** Whether a call may have gone further than its row shows. @param until the journal's mark */
export function mayBeBehind(
  { createdAt, bundle }: Omit<OpenCall, "key" | "state">,
  until: number | undefined,
): boolean {
  return until !== undefined && createdAt <= until && bundle === undefined;
}

/** What a journal knows of the copy that it came from. */
export interface CopiedJournal {
  /**
   * Unix ms: a call that began until then may have gone further than its row shows. A backup has this mark from the moment at
   * which it was made; undefined in a journal that was never put back.
   */
  copiedUntil(): Promise<number | undefined>;

  /** Sets the mark to the newest call: the journal was put back by other means than a backup of ours. */
  markCopied(): Promise<void>;
}
