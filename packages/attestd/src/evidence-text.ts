import type { EvidenceReport, VerifyReport } from "@attestd/proof";
import { groupedUnits } from "@attestd/proof/text";
import { recordedTime } from "@attestd/web/verdict";
import type { CheckpointTrust } from "./checkpoint-files.ts";
import type { Terminal } from "./terminal.ts";

type RestsOn = Pick<CheckpointTrust, "basis" | "name">;

const SIGNED_BY = { ed25519: "the ed25519 key", "falcon-1024": "the post-quantum Falcon-1024 key" };

/** What the evidence beside a verified bundle shows, and on what it rests: no lines without evidence. */
export function evidenceLines(report: VerifyReport, restsOn: RestsOn | undefined, out: Terminal): string[] {
  const { evidence, authorisedBy } = report;
  if (evidence === undefined) return [];
  const signed =
    authorisedBy &&
    `its transaction was signed by ${SIGNED_BY[authorisedBy.alg]} of ${out.short(authorisedBy.address)}`;
  return [...stakeLines(report, evidence, restsOn, out), ...(signed ? [signed] : []), ...sourceLines(report)];
}

/** Of a source on Algorand: when stake recorded its own block. */
function sourceLines({ recordedBy, sourceRecordedBy: source }: VerifyReport): string[] {
  if (source === undefined) return [];
  const { round, time, checkpoint } = source;
  const rests =
    checkpoint.round === recordedBy?.checkpoint.round ? "" : `; rests on the checkpoint of round ${checkpoint.round}`;
  return [
    `stake signed for the block of what is attested, too: round ${round}, ${recordedTime({ recordedBy: { time } })}${rests}`,
  ];
}

function stakeLines(
  { recordedBy }: VerifyReport,
  evidence: EvidenceReport,
  restsOn: RestsOn | undefined,
  out: Terminal,
): string[] {
  if (recordedBy !== undefined) {
    const { provenWeight, checkpoint } = recordedBy;
    const stake = `${groupedUnits(BigInt(provenWeight), 6)} ALGO`;
    const basis = restsOn === undefined ? "" : `, ${basisOf(restsOn, out)}`;
    return [
      `stake of more than ${stake} signed for the round; rests on the checkpoint of round ${checkpoint.round}${basis}`,
    ];
  }
  if (evidence.inclusion !== "pass") return ["the evidence does not show where it is recorded"];
  return ["the evidence shows the block, but no stake that signed for it: no state proof on a trusted --checkpoint"];
}

function basisOf({ basis, name }: RestsOn, out: Terminal): string {
  const says = {
    checkpoint: `in ${name}`,
    table: `in your own table ${name}`,
    published: `by the root that a service publishes, in ${name}`,
    root: `by the root ${out.short(name)} that you named`,
    release: `${name}, which comes with attestd`,
  };
  return says[basis];
}

/** How the evidence contradicts a bundle: its faults, their pointers leading into the evidence. */
export function evidenceFaults({ evidence }: VerifyReport): string[] {
  const faults = evidence?.failures ?? [];
  return faults.map(({ pointer = "", message, stated, computed }) => {
    return `evidence  ${pointer} ${message ?? `stated ${stated}, computed ${computed}`}`;
  });
}
