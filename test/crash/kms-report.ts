import type { KmsOutcome } from "./kms.ts";
import { KMS_CELLS, KMS_CONDUCTS, kmsTitle } from "./kms-cells.ts";
import { PROVIDERS } from "./kms-server.ts";
import { aligned } from "./table.ts";

/** The part of docs/measured/crash-matrix.md about keys in a KMS. @param date day and revision */
export function kmsPart(outcomes: readonly KmsOutcome[], date: string): string[] {
  if (outcomes.length === 0) return [];
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const failures = outcomes.filter(({ wrong }) => wrong.length > 0);
  const lines = Object.entries(KMS_CONDUCTS).map(([name, { story }]) => [
    story,
    ...PROVIDERS.map((provider) =>
      outcomes
        .filter(({ run }) => run.conduct === name && run.provider === provider)
        .map(resultOf)
        .join(" "),
    ),
  ]);
  return `## While a KMS has the attestor's keys

**${held} of ${outcomes.length} runs held**, of ${KMS_CELLS.length} cells. ${date}.

Both keys are in a fake of AWS KMS or of Google Cloud KMS (\`packages/service/test/fakes/kms\`), which the provider's own client
asks. A killed process gets SIGKILL, and is started again. Journals are SQLite and PostgreSQL in turn. A cell has held when the
same payment got its bundle, and the same bytes once more; two rounds later the payee has been paid exactly once, and the
ledger has exactly one attestation of this payment; and the audit, which verifies every signature, is clean.

A cell has the requests to sign that the KMS got, with probes and repetitions; a purchase without a fault takes three. Where the
KMS was killed, its count ended with it.

${aligned(["what happens", ...PROVIDERS], lines).join("\n")}
${failures.map(({ run, wrong }) => `\n- ${kmsTitle(run)}: ${wrong.join("; ")}`).join("")}`.split("\n");
}

function resultOf({ wrong, signs }: KmsOutcome): string {
  if (wrong.length > 0) return "**wrong**";
  return signs === undefined ? "held" : String(signs);
}
