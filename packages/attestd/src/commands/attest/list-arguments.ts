import { cellsOf, ListError, type Listed, linesOf, transactionsOf } from "@attestd/web/id-list";
import { longName } from "../../command.ts";
import { EXIT, Failure, failsFor } from "../../failure.ts";
import { collect, readNamed, textOf } from "../../files/files.ts";
import type { Environment } from "../../terminal/environment.ts";

const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** The most faults that are shown. */
const MAX_SHOWN = 20;

/** Options of `attestd attest` that are only for a list, and only for one transaction. */
const FOR_LIST = ["column", "batchSize"];
const FOR_ONE = ["wait", "evidence", "json"];

/** Checks the arguments for one transaction. @returns its id. @throws Failure `usage` */
export function requireOne(txid: string | undefined, options: object): string {
  if (txid === undefined)
    throw new Failure(EXIT.usage, "no transaction is named", ["Name its id, or a list of them: --file list.txt."]);
  const others = given(FOR_LIST, options);
  if (others === "") return txid;
  throw new Failure(EXIT.usage, `${others} only goes with --file`);
}

/** Checks the arguments for a list of transactions. @returns the options. @throws Failure `usage` */
export function requireList<Options extends object>(
  txid: string | undefined,
  options: Options,
): Options & { file: string } {
  const others = txid === undefined ? given(FOR_ONE, options) : "a transaction id";
  if (others === "") return options as Options & { file: string };
  throw new Failure(EXIT.usage, `${others} does not go with --file`);
}

/** The given ones among some options, as the user wrote them. */
function given(names: readonly string[], options: object): string {
  return names
    .filter((name) => Object.hasOwn(options, name))
    .map(longName)
    .join(" and ");
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
