import { cellsOf, ListError, type Listed, linesOf, transactionsOf } from "@attestd/web/id-list";
import { EXIT, Failure } from "./failure.ts";

/** Faults that are shown. */
const MAX_SHOWN = 20;

/**
 * Reads the transaction ids of a list: one a line, or those of one column of CSV (RFC 4180) whose first record names the
 * columns. Empty lines and cells are left out.
 *
 * @param name of the list, for errors
 * @param column of CSV; without it the text has one id a line
 * @returns in their order, each in its one spelling
 * @throws Failure `usage` with every line at fault
 */
export function readIdList(text: string, name: string, column?: string): Listed[] {
  const { listed, faults } = transactionsOf(column === undefined ? linesOf(text) : columnOf(text, name, column));
  if (faults.length === 0) return listed;
  const more = faults.length > MAX_SHOWN ? [`and ${faults.length - MAX_SHOWN} more`] : [];
  throw new Failure(EXIT.usage, `${name} can't be attested as it is: nothing was paid`, [
    ...faults.slice(0, MAX_SHOWN),
    ...more,
  ]);
}

function columnOf(text: string, name: string, column: string) {
  try {
    return cellsOf(text, column);
  } catch (error) {
    if (!(error instanceof ListError)) throw error;
    throw new Failure(EXIT.usage, `${name}: ${error.message}`, [...error.more]);
  }
}
