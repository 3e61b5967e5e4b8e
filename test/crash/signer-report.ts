import { RAILS } from "./payers.ts";
import type { SignerOutcome } from "./signer.ts";
import { FAULTS, SIGNER_CELLS, STEPS, signerTitle } from "./signer-cells.ts";
import { aligned } from "./table.ts";

/** The part of docs/measured/crash-matrix.md about the signer. @param date day and revision */
export function signerPart(outcomes: readonly SignerOutcome[], date: string, seed: number | undefined): string[] {
  if (outcomes.length === 0) return [];
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const failures = outcomes.filter(({ wrong }) => wrong.length > 0);
  const columns = Object.keys(STEPS).flatMap((step) => RAILS.map((rail) => ({ step, rail })));
  const lines = Object.keys(FAULTS).map((fault) => [
    fault,
    ...columns.map(({ step, rail }) =>
      outcomes
        .filter(({ run }) => run.fault === fault && run.step === step && run.rail === rail)
        .map(({ wrong, asked }) => (wrong.length > 0 ? "**wrong**" : String(asked)))
        .join(" "),
    ),
  ]);
  return `## The signer fails

**${held} of ${outcomes.length} runs held**, of ${SIGNER_CELLS.length} cells. ${date}, seed ${seed}.

The service has no seed: \`attestd signer\` has the keys, in a process of its own, on a Unix socket. Something happens to the
first request of a step (for \`wrong\`, to three):

${Object.entries(FAULTS)
  .map(([name, meaning]) => `- \`${name}\`: ${meaning}.`)
  .join("\n")}

A cell has held when the same payment got its bundle, and the same bytes once more; two rounds later the payee has been paid
exactly once, and the ledger has exactly one attestation, of this payment; and the audit is clean. The journal is SQLite; the
subject changes from cell to cell. A cell has the requests of its step that the service made.

${aligned(["", ...columns.map(({ step, rail }) => `${step}, ${rail}`)], lines).join("\n")}
${failures.map(({ run, wrong }) => `\n- ${signerTitle(run)}: ${wrong.join("; ")}`).join("")}`.split("\n");
}
