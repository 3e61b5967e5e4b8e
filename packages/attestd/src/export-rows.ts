import { bundleId, signedPart } from "@attestd/proof";
import { circumstancesOf, subjectLine, subjectOf } from "@attestd/proof/description";
import { railLabel } from "@attestd/proof/rails";
import { formatUnits } from "@attestd/proof/text";
import { isProven } from "@attestd/web/verdict";
import type { Checked, CheckedReceipt, Result } from "./checked-file.ts";
import type { TrustedKeys } from "./keys-file.ts";
import { receiptTrouble } from "./receipt-text.ts";
import { verdict } from "./report-text.ts";
import { remarksOn } from "./verify-table.ts";

/** The columns of an accountant's table, in order. What a file does not prove is empty. */
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

/** One file: decimal integers and exact decimal numbers, RFC 3339 times in UTC, ids in full. */
export type ExportRow = { [column in (typeof COLUMNS)[number]]?: string | undefined };

/** A file's row. It states nothing of a bundle or a receipt that is not verified but the verdict, and why. */
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
  // Sums of the column must be true: what failed, or may have, moved nothing.
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
