import type { CommitPoint, EvidenceCommit } from "./commits.ts";
import type { JournalKind } from "./databases.ts";

/** What happens to the process that collects, or to the node that it asks. */
export const EVIDENCE_FAULTS = {
  killed: "the process kills itself at a commit of the collector",
  "state proof forgotten": "algod answers once that it has no state proof of the round",
  "light header forgotten": "algod answers once that it has no light header of the round",
} as const;
type EvidenceFault = keyof typeof EVIDENCE_FAULTS;

/** `sqlite`: the next process goes on. `postgres`: two replicas, of which the other one goes on. */
export type EvidenceCell = { journal: JournalKind } & (
  | { fault: "killed"; killAt: CommitPoint & { commit: EvidenceCommit } }
  | { fault: Exclude<EvidenceFault, "killed"> }
);

const EVIDENCE_COMMITS: readonly EvidenceCommit[] = [
  "record_included",
  "source_included",
  "state_proof_kept",
  "block_whole",
];
const SIDES = ["before", "during", "after"] as const;
const JOURNALS = ["sqlite", "postgres"] as const;

export const EVIDENCE_CELLS: readonly EvidenceCell[] = JOURNALS.flatMap((journal) => [
  ...EVIDENCE_COMMITS.flatMap((commit) =>
    SIDES.map((side): EvidenceCell => ({ journal, fault: "killed", killAt: { commit, nth: 1, side, afterMs: 1 } })),
  ),
  ...(Object.keys(EVIDENCE_FAULTS) as EvidenceFault[])
    .filter((fault) => fault !== "killed")
    .map((fault): EvidenceCell => ({ journal, fault })),
]);

/** `record_included before · sqlite`. */
export function evidenceTitle(cell: EvidenceCell): string {
  const what = cell.fault === "killed" ? `${cell.killAt.commit} ${cell.killAt.side}` : cell.fault;
  return `${what} · ${cell.journal}`;
}
