import { matchTransactionId } from "@attestd/proof";
import { EXIT, Failure } from "./failure.ts";

/** A transaction of a list, and the line of the list that has it, from 1. */
export type Listed = { txid: string; line: number };

/** Ids of one list. */
const MAX_IDS = 100_000;
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
  const entries = column === undefined ? linesOf(text) : cellsOf(text, name, column);
  const ids = new Map<string, Listed>();
  const faults: string[] = [];
  for (const { text: entry, line } of entries) {
    const txid = matchTransactionId(entry)?.id;
    const first = txid === undefined ? undefined : ids.get(txid);
    if (txid === undefined) faults.push(`line ${line}: ${JSON.stringify(entry.slice(0, 80))} is not a transaction id`);
    else if (first) faults.push(`line ${line}: the same transaction as in line ${first.line}`);
    else ids.set(txid, { txid, line });
  }
  if (ids.size + faults.length > MAX_IDS) faults.unshift(`more than ${MAX_IDS} transactions: divide the list`);
  if (ids.size === 0 && faults.length === 0) faults.push("there is no transaction id in it");
  if (faults.length === 0) return [...ids.values()];
  const more = faults.length > MAX_SHOWN ? [`and ${faults.length - MAX_SHOWN} more`] : [];
  throw new Failure(EXIT.usage, `${name} can't be attested as it is: nothing was paid`, [
    ...faults.slice(0, MAX_SHOWN),
    ...more,
  ]);
}

type Entry = { text: string; line: number };

function linesOf(text: string): Entry[] {
  const lines = withoutMark(text).split(/\r?\n/);
  return lines.map((one, index) => ({ text: one.trim(), line: index + 1 })).filter(({ text: one }) => one !== "");
}

function cellsOf(text: string, name: string, column: string): Entry[] {
  const [head, ...records] = recordsOf(withoutMark(text), name);
  const names = head?.cells.map((cell) => cell.trim()) ?? [];
  const places = [...names.keys()].filter((place) => names[place] === column);
  const [place] = places;
  if (place === undefined || places.length > 1) {
    const why = `Its first line has the columns: ${names.map((one) => JSON.stringify(one)).join(", ")}.`;
    throw new Failure(EXIT.usage, `${name} has ${places.length} columns named ${JSON.stringify(column)}`, [why]);
  }
  const entries = records.map(({ cells, line }) => ({ text: cells[place]?.trim() ?? "", line }));
  return entries.filter(({ text: one }) => one !== "");
}

/** A token of CSV: a quoted cell, or a plain one, and what follows it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",;\t\r\n]*))([,;\t]|\r?\n|$)/y;

/** The records of CSV, whose cells are divided by commas, semicolons or tabs, each with its first line. @throws Failure `usage` */
function recordsOf(text: string, name: string): { cells: string[]; line: number }[] {
  const records: { cells: string[]; line: number }[] = [];
  let line = 1;
  let record = { cells: [] as string[], line };
  CELL.lastIndex = 0;
  while (CELL.lastIndex < text.length) {
    const match = CELL.exec(text);
    if (!match) throw new Failure(EXIT.usage, `${name} is not CSV`, [`Line ${line} has a quote that does not fit.`]);
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
