import { degradedIf, OK, type Status } from "../../health/health.ts";
import type { EvidenceJournal } from "./journal.ts";

/** How long evidence may wait before it is said, in ms. On MainNet a state proof takes some 18 minutes; nodes forget after 47. */
const MAX_AGE_MS = 30 * 60_000;

export type EvidenceWatch = ReturnType<typeof watchEvidence>;

/** Watches how long delivered attestations wait for their evidence. @param now Unix ms */
export function watchEvidence(journal: Pick<EvidenceJournal, "oldestUnfinished">, now: () => number) {
  let oldest: { round: number; since: number } | undefined;
  const ageMs = () => (oldest ? Math.max(0, now() - oldest.since) : 0);
  return {
    async refresh(): Promise<void> {
      oldest = await journal.oldestUnfinished();
    },
    /** Of the attestation that has waited for longest, as last read; 0 without one. */
    ageMs,
    /** Nothing that is sold depends on it. */
    status(): Status {
      if (oldest === undefined || ageMs() <= MAX_AGE_MS) return OK;
      const since = new Date(oldest.since).toISOString();
      return degradedIf(
        `the attestation in round ${oldest.round} has no complete evidence since ${since}: nodes forget what shows it`,
      );
    },
  };
}
