import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Counts, UPSTREAMS } from "./counting.ts";

/** A row of docs/upstream-cost.md: a kind of request, and the most upstream requests that it may cause. */
export type CostRow = {
  request: string;
  counts: Counts;
  /** Whether the counts are exact, not only bounds. */
  exact: boolean;
};

/** Reads the page's table. @throws Error when a cell is not a count */
export function readCosts(): CostRow[] {
  const page = readFileSync(join(import.meta.dirname, "../../docs/upstream-cost.md"), "utf8");
  const [head, , ...rows] = page
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
  if (head?.slice(1).join() !== "algod,indexer,Base,Solana,facilitator,Memory")
    throw new Error(`another table: ${head}`);
  return rows.map((row) => {
    const [request = "", ...cells] = row.slice(0, -1);
    if (!/^\d+ [KM]iB$/.test(row.at(-1) ?? "")) throw new Error(`no bound of memory: ${request}`);
    const numbers = cells.map((cell) => Number(cell.match(/^(?:≤ )?(\d+)$/)?.[1] ?? Number.NaN));
    if (numbers.length !== UPSTREAMS.length || numbers.some(Number.isNaN)) throw new Error(`no counts: ${request}`);
    const counts = Object.fromEntries(UPSTREAMS.map((upstream, i) => [upstream, numbers[i]])) as Counts;
    return { request, counts, exact: !cells.some((cell) => cell.startsWith("≤")) };
  });
}
