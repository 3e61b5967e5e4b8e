import { type AuditReport, INVARIANTS, type Severity } from "@attestd/service/operator";
import type { Mark, Terminal } from "../../terminal/terminal.ts";

const VERDICTS: Record<AuditReport["verdict"], { mark: Mark; text: string }> = {
  clean: { mark: "ok", text: "Clean: journal, ledger and rails agree" },
  open: { mark: "warning", text: "Unfinished: no invariant is broken, but look at a payment below" },
  violated: { mark: "fail", text: "Violated: journal, ledger and rails disagree" },
};
const MARKS: Record<Severity, Mark> = { violation: "fail", open: "warning", information: "unknown" };

/** Prints the report of an audit for people. */
export function printReport(report: AuditReport, out: Terminal): void {
  const { mark, text } = VERDICTS[report.verdict];
  out.marked(mark, text);
  const rows = rowsOf(report);
  const width = Math.max(...rows.map(([title]) => title.length));
  for (const [title, value] of rows) out.line(`  ${title.padEnd(width)}  ${value}`);
  for (const [number, holds] of Object.entries(report.invariants)) {
    const meaning = INVARIANTS[Number(number) as keyof typeof INVARIANTS];
    out.marked(holds ? "ok" : "fail", `${number}  ${meaning}`, 2);
  }
  for (const { severity, code, message, key, txid } of report.findings) {
    out.marked(MARKS[severity], code);
    out.line(`  ${message}`);
    if (key !== undefined) out.line(`  payment      ${key}`);
    if (txid !== undefined) out.line(`  transaction  ${txid}`);
  }
  if (report.unlisted > 0) out.line(`  and ${report.unlisted} more, which need no action`);
}

function rowsOf({ counts, spans }: AuditReport): [title: string, value: string][] {
  const { calls, delivered, owed, void: unpaid, refunded, loss, open } = counts;
  const { ledger, payments } = spans;
  const spansRead = Object.entries({ ledger, ...payments }).map(([name, { from, to }]) => `${name} ${from} to ${to}`);
  const underWay = Object.entries(open).map(([state, count]) => `${count} ${state}`);
  const states = [
    `${delivered} delivered`,
    ...underWay,
    `${owed} owed`,
    `${unpaid} void`,
    `${refunded} refunded`,
    `${loss} lost`,
  ];
  return [
    ["calls", `${calls}: ${states.join(", ")}`],
    ["payments", `${counts.settled} settled, ${counts.unaccounted} unaccounted for`],
    ["attestations", `${counts.attested}`],
    ["strangers", `${counts.strangers}`],
    ...(counts.notRead > 0 ? [["not read", `${counts.notRead} calls`] as [string, string]] : []),
    ["read", spansRead.join(", ")],
  ];
}
