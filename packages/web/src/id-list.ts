import { matchTransactionId } from "@attestd/proof";

/** A transaction from a list, and its line, from 1. */
export type Listed = { txid: string; line: number };

/** A list entry: the text of a line or cell. */
export type Entry = { text: string; line: number };

/** The limit of ids in one list. */
const MAX_IDS = 100_000;

/** A list that cannot be read; the message is a sentence. */
export class ListError extends Error {
  /** Sentences that say what to do. */
  readonly more: readonly string[];

  constructor(message: string, more: readonly string[] = []) {
    super(message);
    this.more = more;
  }
}

/** Returns the lines of a text that are not empty. */
export function linesOf(text: string): Entry[] {
  const lines = withoutMark(text).split(/\r?\n/);
  return lines.map((one, index) => ({ text: one.trim(), line: index + 1 })).filter(({ text: one }) => one !== "");
}

/**
 * Returns the cells of one column of CSV (RFC 4180) that are not empty. The first record names the columns.
 * @throws ListError
 */
export function cellsOf(text: string, column: string): Entry[] {
  const [head, ...records] = recordsOf(text);
  const names = head?.cells.map((cell) => cell.trim()) ?? [];
  const places = [...names.keys()].filter((place) => names[place] === column);
  const [place] = places;
  if (place !== undefined && places.length === 1) return cellsAt(records, place);
  const why = `Its first line has the columns: ${names.map((one) => JSON.stringify(one)).join(", ")}.`;
  throw new ListError(`it has ${places.length} columns named ${JSON.stringify(column)}`, [why]);
}

/**
 * Returns the entries of a text: its lines, or for CSV the cells of the only column with transaction ids, whether or
 * not the first record names the columns.
 * @throws ListError
 */
export function entriesOf(text: string): Entry[] {
  const records = recordsOf(text);
  if (records.every(({ cells }) => cells.length <= 1)) return linesOf(text);
  const width = Math.max(...records.map(({ cells }) => cells.length));
  const isId = (cell: Entry) => matchTransactionId(cell.text) !== undefined;
  const columns = Array.from({ length: width }, (_, place) => cellsAt(records, place)).filter((cells) =>
    cells.slice(1).some(isId),
  );
  const [column, another] = columns;
  if (column === undefined || another !== undefined) {
    const found = columns.length === 0 ? "no column" : `${columns.length} columns`;
    throw new ListError(`${found} of this table has transaction ids`, ["Paste only that column, one id per line."]);
  }
  // The first record may name the column.
  return column[0] && !isId(column[0]) ? column.slice(1) : column;
}

/**
 * Returns the transactions of a list in order, each in its one spelling, and all faults, as `line 3: why`. Buy nothing
 * from a list with faults.
 */
export function transactionsOf(entries: readonly Entry[]): { listed: Listed[]; faults: string[] } {
  const ids = new Map<string, Listed>();
  const faults: string[] = [];
  for (const { text, line } of entries) {
    const txid = matchTransactionId(text)?.id;
    const first = txid === undefined ? undefined : ids.get(txid);
    if (txid === undefined) faults.push(`line ${line}: ${JSON.stringify(text.slice(0, 80))} is not a transaction id`);
    else if (first) faults.push(`line ${line}: the same transaction as in line ${first.line}`);
    else ids.set(txid, { txid, line });
  }
  if (ids.size + faults.length > MAX_IDS) faults.unshift(`more than ${MAX_IDS} transactions: divide the list`);
  if (ids.size === 0 && faults.length === 0) faults.push("there is no transaction id in it");
  return { listed: [...ids.values()], faults };
}

type CsvRecord = { cells: string[]; line: number };

function cellsAt(records: readonly CsvRecord[], place: number): Entry[] {
  const entries = records.map(({ cells, line }) => ({ text: cells[place]?.trim() ?? "", line }));
  return entries.filter(({ text }) => text !== "");
}

/** A token of CSV: a quoted or plain cell, and what follows it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",;\t\r\n]*))([,;\t]|\r?\n|$)/y;

/**
 * Returns the records of CSV, each with its first line's number. Commas, semicolons or tabs separate cells. @throws
 * ListError
 */
function recordsOf(marked: string): CsvRecord[] {
  const text = withoutMark(marked);
  const records: CsvRecord[] = [];
  let line = 1;
  let record: CsvRecord = { cells: [], line };
  CELL.lastIndex = 0;
  while (CELL.lastIndex < text.length) {
    const match = CELL.exec(text);
    if (!match) throw new ListError("it is not CSV", [`Line ${line} has a quote that does not fit.`]);
    const [whole, quoted, plain = "", end] = match;
    record.cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.split("\n").length - 1;
    if (end !== "" && end !== "\n" && end !== "\r\n") continue;
    records.push(record);
    record = { cells: [], line };
  }
  return records;
}

function withoutMark(text: string): string {
  return text.replace(/^\u{feff}/u, "");
}
