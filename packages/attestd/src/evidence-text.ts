import type { VerifyReport } from "@attestd/proof";
import { groupedUnits } from "@attestd/proof/text";
import type { Terminal } from "./terminal.ts";

/** What the evidence beside a verified bundle shows: a line, or none without evidence. */
export function evidenceLines({ evidence, recordedBy }: VerifyReport, out: Terminal): string[] {
  if (evidence === undefined) return [];
  if (recordedBy !== undefined) {
    const { provenWeight, checkpoint } = recordedBy;
    const of = checkpoint.root === undefined ? "" : ` of the table ${out.short(checkpoint.root)}`;
    const stake = `${groupedUnits(BigInt(provenWeight), 6)} ALGO`;
    return [
      `stake of more than ${stake} signed for the round; rests on the checkpoint of round ${checkpoint.round}${of}`,
    ];
  }
  if (evidence.inclusion !== "pass") return ["the evidence does not show where it is recorded"];
  return ["the evidence shows the block, but no stake that signed for it: no state proof on a trusted --checkpoint"];
}

/** How the evidence contradicts a bundle: its faults, their pointers leading into the evidence. */
export function evidenceFaults({ evidence }: VerifyReport): string[] {
  const faults = evidence?.failures ?? [];
  return faults.map(({ pointer = "", message, stated, computed }) => {
    return `evidence  ${pointer} ${message ?? `stated ${stated}, computed ${computed}`}`;
  });
}
