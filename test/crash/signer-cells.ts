import { RAILS, type RailName } from "./payers.ts";
import { SUBJECTS, type SubjectName } from "./subjects.ts";

/** What the service asks the signer for in one call. */
export const STEPS = {
  note: "the transaction with the attestation",
  bundle: "the bundle",
  receipt: "the receipt",
} as const;
export type Step = keyof typeof STEPS;

/** What becomes of the first request of a step. */
export const FAULTS = {
  "killed before": "the signer is killed before it reads the request, and starts again",
  "killed after": "the signer is killed once it has signed; its answer is lost, and it starts again",
  "long away": "the signer is killed before, and starts again after eight seconds",
  hang: "the request is never answered",
  slow: "the answer comes after four seconds",
  wrong: "three answers in a row have one bit changed",
  truncated: "half of the answer comes, and the connection ends",
  "another key": "the signer is killed, and one with other seeds is at its socket for three seconds",
  "all killed": "the service is killed with the signer, and both start again",
} as const;
export type SignerFault = keyof typeof FAULTS;

export type SignerCell = { step: Step; fault: SignerFault; rail: RailName };
export type SignerRun = SignerCell & { subject: SubjectName };

export const SIGNER_CELLS: readonly SignerCell[] = (Object.keys(FAULTS) as SignerFault[]).flatMap((fault) =>
  (Object.keys(STEPS) as Step[]).flatMap((step) => RAILS.map((rail) => ({ step, fault, rail }))),
);

/** `note, killed after · base`. */
export function signerTitle({ step, fault, rail }: SignerCell): string {
  return `${step}, ${fault} · ${rail}`;
}

/** All cells, `times` times; the subject changes from cell to cell and from time to time. */
export function signerRuns(cells: readonly SignerCell[], times: number, seed: number): SignerRun[] {
  return Array.from({ length: times }, (_, time) =>
    cells.map((cell, i) => ({ ...cell, subject: SUBJECTS[(i + time + seed) % SUBJECTS.length] as SubjectName })),
  ).flat();
}

/** Of every test run. */
export const SIGNER_SAMPLE: readonly SignerCell[] = [{ step: "note", fault: "killed after", rail: "base" }];
