import { existsSync } from "node:fs";
import { bundleId, signedPart } from "@attestd/proof";
import { circumstancesOf, subjectLine, subjectOf } from "@attestd/proof/description";
import { railLabel } from "@attestd/proof/rails";
import { formatUnits, printable } from "@attestd/proof/text";
import { isProven } from "@attestd/web/verdict";
import { stringify } from "csv-stringify/sync";
import { EXIT, type ExitCode, Failure, failsFor } from "../../failure.ts";
import { writeAtomically } from "../../files/files.ts";
import type { TrustOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Checked, CheckedReceipt, Result } from "../../trust/check-file.ts";
import { exitCodeOf, openChecking } from "../../trust/check-files.ts";
import type { TrustedKeys } from "../../trust/keys.ts";
import { basisLine, verdict } from "../../trust/report-text.ts";
import { receiptTrouble, remarksOn, summary } from "../../trust/summary.ts";

/** Tells a spreadsheet that the file is UTF-8. */
const BYTE_ORDER_MARK = "\u{feff}";

/**
 * Checks bundles and receipts, and writes what they prove as a table: CSV (RFC 4180), or one JSON object a line.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @returns the same as `verify`
 * @throws Failure `usage` when the file of `--out` is there already
 */
export async function exportFiles(
  names: string[],
  options: TrustOptions & { json?: boolean; out?: string; force?: boolean },
  environment: Environment,
): Promise<ExitCode> {
  const { json, out: path, force } = options;
  if (path !== undefined && !force && existsSync(path))
    throw new Failure(EXIT.usage, `${path} is there already`, ["Replace it with --force, or choose another: --out."]);
  const { trusted, results } = await openChecking(names, options, environment);
  const { out, err } = environment;
  const checked: Result[] = [];
  const rows: ExportRow[] = [];
  for await (const group of results) {
    checked.push(...group);
    for (const result of group) if (result.kind !== "other") rows.push(printableRow(exportRow(result, trusted)));
  }
  const table = json ? rows.map((row) => `${JSON.stringify(row)}\n`).join("") : csv(rows);
  if (path === undefined) out.text(table);
  else {
    const failure = failsFor(EXIT.usage, `write ${path}`, "folder", "Choose another file: --out.");
    await writeAtomically(path, json ? table : BYTE_ORDER_MARK + table, 0o644).catch(failure);
    out.marked("ok", `Saved ${path}`);
  }
  // Standard output may be the table.
  err.line(basisLine(trusted));
  err.line(summary(checked));
  return exitCodeOf(checked);
}

/** The table as a CSV file that a spreadsheet reads as UTF-8. */
export function csvFile(rows: readonly ExportRow[]): string {
  return BYTE_ORDER_MARK + csv(rows.map(printableRow));
}

/** A cell that begins like a formula gets an apostrophe before it, because strangers name files and tokens. */
function csv(rows: readonly ExportRow[]): string {
  return stringify([...rows], {
    columns: [...COLUMNS],
    header: true,
    record_delimiter: "windows",
    escape_formulas: true,
  });
}

function printableRow(row: ExportRow): ExportRow {
  return Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) => (value ? [[column, printable(value)]] : [])),
  );
}

/** The columns of the table, in their order. A cell is empty where the file does not prove anything. */
const COLUMNS = [
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
