import type { FailoverOutcome } from "./failover.ts";
import { CONDUCTS, FAILOVER_CELLS, failoverTitle, MOMENTS, SECONDS } from "./failover-cells.ts";
import { RAILS } from "./payers.ts";
import { aligned } from "./table.ts";

/** The part of docs/measured/crash-matrix.md about two facilitators. @param date day and revision */
export function failoverPart(outcomes: readonly FailoverOutcome[], date: string, seed: number | undefined): string[] {
  if (outcomes.length === 0) return [];
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const failures = outcomes.filter(({ wrong }) => wrong.length > 0);
  const conducts = Object.entries(CONDUCTS).map(([name, { story }]) => `- \`${name}\`: ${story}.`);
  const moments = Object.entries(MOMENTS).map(([name, meaning]) => `- **${name}**: ${meaning}.`);
  const columns = SECONDS.flatMap((second) => RAILS.map((rail) => ({ second, rail })));
  const lines = Object.keys(CONDUCTS).flatMap((conduct) =>
    Object.keys(MOMENTS)
      .filter((moment) => FAILOVER_CELLS.some((cell) => cell.conduct === conduct && cell.moment === moment))
      .map((moment) => [
        `${conduct}, ${moment}`,
        ...columns.map(({ second, rail }) => {
          const isCell = (cell: { conduct: string; moment: string; second: string; rail: string }) =>
            cell.conduct === conduct && cell.moment === moment && cell.second === second && cell.rail === rail;
          const ran = outcomes.filter(({ run }) => isCell(run));
          return FAILOVER_CELLS.some(isCell) ? ran.map(resultOf).join(" ") : "–";
        }),
      ]),
  );
  return `## Killed (SIGKILL) while the first of two facilitators settles

**${held} of ${outcomes.length} runs held**, of ${FAILOVER_CELLS.length} cells. ${date}, seed ${seed}.

Every rail has two facilitators, each with fee payers of its own. The first one mistreats the first two requests to settle
(\`silent\` and \`settlement_pending\` during the proof: one), the killed process's among them:

${conducts.join("\n")}

A second one that is \`failing\` answers its first two requests with 503. The process is killed:

${moments.join("\n")}

Journal and successor (SQLite and the next process, PostgreSQL and the next process, PostgreSQL and a replica that was
running) and the subject change from cell to cell. Leases are ended at the kill.

A cell has held when the process was killed at its moment, the same payment got its bundle, and the same bytes once more; two
rounds later the payee has been paid exactly once, as the chains' own clients count, and the ledger has exactly one attestation
of this payment; the audit is clean; no payment on Algorand or Solana reached the second facilitator; and one on Base did where
the first could not have made it. On Solana a payment lives for a minute: where \`silent\` or \`settlement_pending\` take that
long, it may end in the 402 of a payment that was never made (**402**), with no attestation. Elsewhere such an end is run again.

A cell has the requests to settle that the first and the second got. A dash marks an impossible one.

${aligned(["killed", ...columns.map(({ second, rail }) => `${rail}, second ${second}`)], lines).join("\n")}
${failures.map(({ run, wrong }) => `\n- ${failoverTitle(run)}: ${wrong.join("; ")}`).join("")}`.split("\n");
}

/** `2 + 1`: requests to settle that the first and the second facilitator got. */
function resultOf({ wrong, answers, asked: { first, second } }: FailoverOutcome): string {
  if (wrong.length > 0) return "**wrong**";
  return `${first} + ${second}${answers.at(-1)?.startsWith("402") ? " **402**" : ""}`;
}
