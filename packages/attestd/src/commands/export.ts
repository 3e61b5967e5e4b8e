import { existsSync } from "node:fs";
import { printable } from "@attestd/proof/text";
import { stringify } from "csv-stringify/sync";
import type { Result, TrustOptions } from "../checked-file.ts";
import { exitCodeOf, openChecking } from "../checked-files.ts";
import type { Environment } from "../environment.ts";
import { COLUMNS, type ExportRow, exportRow } from "../export-rows.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { writeWhole } from "../files.ts";
import { basisLine } from "../report-text.ts";
import { summary } from "../verify-table.ts";

export type ExportOptions = TrustOptions & { json?: boolean; out?: string; force?: boolean };

/** So that a spreadsheet reads UTF-8. */
const BYTE_ORDER_MARK = "\u{feff}";

/**
 * Checks bundles and receipts, and writes what they prove as a table: CSV (RFC 4180), or JSON, an object a line.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @returns as `verify`
 * @throws Failure `usage` when a file is there already
 */
export async function exportTable(
  names: string[],
  options: ExportOptions,
  environment: Environment,
): Promise<ExitCode> {
  if (options.out !== undefined && !options.force && existsSync(options.out))
    throw new Failure(EXIT.usage, `${options.out} is there already`, [
      "Replace it with --force, or choose another: --out.",
    ]);
  const { trusted, results } = await openChecking(names, options, environment);
  const { out, err } = environment;
  const checked: Result[] = [];
  const rows: ExportRow[] = [];
  for await (const group of results) {
    checked.push(...group);
    for (const result of group) if (result.kind !== "other") rows.push(printableRow(exportRow(result, trusted)));
  }
  const table = options.json ? rows.map((row) => `${JSON.stringify(row)}\n`).join("") : csv(rows);
  if (options.out === undefined) out.text(table);
  else {
    const failure = failsFor(EXIT.usage, `write ${options.out}`, "folder", "Choose another file: --out.");
    await writeWhole(options.out, options.json ? table : BYTE_ORDER_MARK + table, 0o644).catch(failure);
    out.marked("ok", `Saved ${options.out}`);
  }
  // The table may be standard output.
  err.line(basisLine(trusted));
  err.line(summary(checked));
  return exitCodeOf(checked);
}

/** The table as a file of CSV, in which a spreadsheet sees UTF-8. */
export function csvFile(rows: readonly ExportRow[]): string {
  return BYTE_ORDER_MARK + csv(rows.map(printableRow));
}

/** A cell that begins like a formula gets an apostrophe before it: strangers name files and tokens. */
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
