import { bundleId, signedPart } from "@attestd/proof";
import { circumstancesOf, subjectLine, subjectOf } from "@attestd/proof/description";
import { railLabel } from "@attestd/proof/rails";
import { formatUnits } from "@attestd/proof/text";
import { isProven } from "@attestd/web/verdict";
import type { Checked, CheckedReceipt, Result } from "../../trust/check-file.ts";
import type { TrustedKeys } from "../../trust/keys.ts";
import { verdict } from "../../trust/report-text.ts";
import { receiptTrouble, remarksOn } from "../../trust/summary.ts";

/** The columns of the table, in their order. A cell is empty where the file does not prove anything. */
export const COLUMNS = [
  "file",
  "verdict",
  "remarks",
  "what",
  "chain",
  "transaction",
  "block",
  "block_hash",
  "time",
  "outcome",
  "from",
  "to",
  "amount",
  "unit",
  "other_parties",
  "recorded_round",
  "record",
  "attestor_key",
  "bundle",
  "paid_on",
  "paid_by",
  "payment",
] as const;

/** The row of one file: decimal integers and exact decimal numbers, RFC 3339 times in UTC, full ids. */
export type ExportRow = { [column in (typeof COLUMNS)[number]]?: string | undefined };

/** Makes the row of a file. For a bundle or a receipt that is not verified it has only the verdict, and why. */
export function exportRow(result: Result, trusted: TrustedKeys | undefined): ExportRow {
  const { file } = result;
  if (result.kind === "other") return { file };
  const row = { file, verdict: verdict(result).heading };
  switch (result.kind) {
    case "unreadable":
      return { ...row, remarks: result.why };
    case "receipt":
      return { ...row, remarks: receiptTrouble(result.findings) ?? "receipt of a payment", ...paid(result) };
    case "checked": {
      const remarks = remarksOn(result, trusted).filter(Boolean).join("; ");
      return { ...row, remarks, ...stated(result), ...paid(result.payment) };
    }
  }
}

function stated(checked: Checked): ExportRow {
  const { report, bundle } = checked;
  if (!isProven(checked) || bundle === undefined) return {};
  const subject = subjectOf(bundle);
  const { attest } = signedPart(bundle);
  const { block, outcome } = circumstancesOf(subject, report);
  const { parties = [], amount, id } = subject.transaction ?? {};
  const of = (role: string) => parties.find((party) => party.role === role)?.account;
  const others = parties.filter(({ role }) => role !== "From" && role !== "To");
  // The column must be safe to sum: a transaction that failed, or may have failed, moved nothing.
  const moved = outcome === "succeeded" || outcome === "not_applicable" ? amount : undefined;
  return {
    what: subjectLine(subject, outcome),
    chain: subject.chain.name,
    transaction: id,
    ...(block && { block: String(block.height), block_hash: block.hash }),
    time: block?.time === undefined ? undefined : rfc3339(block.time),
    outcome: subject.transaction && outcome,
    from: of("From"),
    to: of("To"),
    amount: moved && formatUnits(BigInt(moved.units), moved.decimals ?? 0),
    unit: moved && (moved.symbol ?? moved.text.slice(moved.text.indexOf(" ") + 1)),
    other_parties: others.map(({ role, account }) => `${role}: ${account}`).join("; "),
    recorded_round: String(attest.round),
    record: attest.txnId,
    attestor_key: report.attestor.kid ?? undefined,
    bundle: bundleId(bundle),
  };
}

function paid(payment: CheckedReceipt | undefined): ExportRow {
  if (payment?.findings.conclusion !== "verified") return {};
  const { receipt } = payment.findings;
  return receipt ? { paid_on: railLabel(receipt.network), paid_by: receipt.payer, payment: receipt.transaction } : {};
}

function rfc3339(time: number): string | undefined {
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(".000Z", "Z");
}
