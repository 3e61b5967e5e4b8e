import { existsSync } from "node:fs";
import { printable } from "@attestd/proof/text";
import { stringify } from "csv-stringify/sync";
import { EXIT, type ExitCode, Failure, failsFor } from "../../failure.ts";
import { writeAtomically } from "../../files/files.ts";
import type { TrustOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Result } from "../../trust/check-file.ts";
import { exitCodeOf, openChecking } from "../../trust/check-files.ts";
import { basisLine } from "../../trust/report-text.ts";
import { summary } from "../../trust/summary.ts";
import { COLUMNS, type ExportRow, exportRow } from "./rows.ts";

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
