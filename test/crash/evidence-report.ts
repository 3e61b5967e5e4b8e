import type { EvidenceOutcome } from "./evidence.ts";
import { EVIDENCE_CELLS, EVIDENCE_FAULTS, evidenceTitle } from "./evidence-cells.ts";
import { aligned } from "./table.ts";

/** The part of docs/measured/crash-matrix.md about evidence. @param date day and revision */
export function evidencePart(outcomes: readonly EvidenceOutcome[], date: string): string[] {
  if (outcomes.length === 0) return [];
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const lines = EVIDENCE_CELLS.flatMap((cell) => {
    const outcome = outcomes.find((one) => evidenceTitle(one.cell) === evidenceTitle(cell));
    if (!outcome) return [];
    const { wrong, asked } = outcome;
    const result = wrong.length > 0 ? `**${wrong.join("; ")}**` : "held";
    return [[evidenceTitle(cell), result, String(asked.stateProofs), String(asked.lightHeaders)]];
  });
  return `## The collector of evidence fails

**${held} of ${outcomes.length} held.** ${date}.

Attestations are bought, whose evidence the service then collects ([architecture.md](../architecture.md#after-the-paid-call)), on a
ledger with a state proof every 16 rounds:

${Object.entries(EVIDENCE_FAULTS)
  .map(([name, meaning]) => `- \`${name}\`: ${meaning}.`)
  .join("\n")}

All are about one young transaction, or its block, and the inclusion of another. On SQLite the next process goes on; on PostgreSQL
the second of two replicas. A cell has held when every delivered bundle has whole evidence, of its source's own block, too, which
verifies, with the ledger's own state proofs; and when nothing was asked for twice, but for answers that
the kill or the fault has lost, and for light headers of sources: each sale may be collected by itself, and each attempt to sell
an inclusion asks, too. A cell has how many state proofs and light headers algod was asked for.

${aligned(["what happens", "", "state proofs", "light headers"], lines).join("\n")}`.split("\n");
}
