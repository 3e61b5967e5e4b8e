import { cellsOf, ListError, type Listed, linesOf, transactionsOf } from "@attestd/web/id-list";
import { longName } from "../../command.ts";
import { EXIT, Failure, failsFor } from "../../failure.ts";
import { collect, readNamed, textOf } from "../../files/files.ts";
import type { Environment } from "../../terminal/environment.ts";

const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** The most faults that are shown. */
const MAX_SHOWN = 20;

/** Options of `attestd attest` that do not go with a list, and those that only go with one. */
const FOR_ONE = ["wait", "evidence", "json"];
const FOR_LIST = ["column", "batchSize"];

/** Checks that the arguments are those for one transaction. @returns its id. @throws Failure `usage` */
export function requireOne(txid: string | undefined, options: object): string {
  if (txid === undefined)
    throw new Failure(EXIT.usage, "no transaction is named", ["Name its id, or a list of them: --file list.txt."]);
  refuse(FOR_LIST, options, "only goes with --file");
  return txid;
}

/** Checks that the arguments are those for a list. @throws Failure `usage` */
export function requireList(txid: string | undefined, options: object): void {
  if (txid !== undefined) throw new Failure(EXIT.usage, "a transaction id does not go with --file");
  refuse(FOR_ONE, options, "does not go with --file");
}

function refuse(names: readonly string[], options: object, why: string): void {
  const given = names.filter((name) => Object.hasOwn(options, name)).map(longName);
  if (given.length > 0) throw new Failure(EXIT.usage, `${given.join(" and ")} ${why}`);
}

/** Reads the list of transactions that `--file` names. @throws Failure */
export async function readList(
  file: string,
  column: string | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<Listed[]> {
  const action = `read ${file}`;
  const reading =
    file === "-"
      ? collect(environment.stdin, MAX_LIST_BYTES, signal)
      : readNamed(file, MAX_LIST_BYTES, signal).then(({ bytes }) => bytes);
  const bytes = await reading.catch((error: unknown) => {
    if (signal.aborted) throw error;
    return failsFor(EXIT.unreadable, action)(error);
  });
  return readIdList(textOf(bytes, EXIT.unreadable, action), file, column);
}

/**
 * Reads the transaction ids of a list: one a line, or those in one column of CSV (RFC 4180) whose first record names the
 * columns. Empty lines and cells are left out.
 *
 * @param name the list's name, for errors
 * @param column the column of CSV; without it the text has one id a line
 * @returns the ids in their order, each in its canonical spelling
 * @throws Failure `usage` with every faulty line
 */
function readIdList(text: string, name: string, column?: string): Listed[] {
  const { listed, faults } = transactionsOf(column === undefined ? linesOf(text) : columnOf(text, name, column));
  if (faults.length === 0) return listed;
  const more = faults.length > MAX_SHOWN ? [`and ${faults.length - MAX_SHOWN} more`] : [];
  const shown = [...faults.slice(0, MAX_SHOWN), ...more];
  throw new Failure(EXIT.usage, `${name} can't be attested as it is: nothing was paid`, shown);
}

function columnOf(text: string, name: string, column: string) {
  try {
    return cellsOf(text, column);
  } catch (error) {
    if (!(error instanceof ListError)) throw error;
    throw new Failure(EXIT.usage, `${name}: ${error.message}`, [...error.more]);
  }
}
