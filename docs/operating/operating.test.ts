import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settingsTable } from "../../build/settings-table.ts";
import { CODES, INVARIANTS } from "../../packages/service/src/audit/report.ts";
import { CALL_REQUESTS, type Requests, UPSTREAMS } from "../../test/e2e/call-requests.ts";

/** Cells of the first table under a heading of a page, without its first two rows. */
function tableUnder(heading: string, page: string): string[][] {
  const [, section = ""] = `\n${readFileSync(join(import.meta.dirname, page), "utf8")}`.split(`\n${heading}\n`);
  const lines = section.split("\n## ")[0]?.split("\n") ?? [];
  const rows = lines.filter((line) => line.startsWith("|")).slice(2);
  return rows.map(cellsOf);
}

function cellsOf(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

test("the page has the table of settings that is drawn from their schemas: `node build/settings-table.ts` prints it", () => {
  const lines = settingsTable().split("\n").slice(2);
  expect(tableUnder("## All settings", "settings.md")).toEqual(lines.map(cellsOf));
});

test("the page lists every invariant of the audit, with its findings", () => {
  const expected = Object.entries(INVARIANTS).map(([number, invariant]) => [
    number,
    invariant,
    Object.entries(CODES)
      .filter(([, broken]) => String(broken) === number)
      .map(([code]) => `\`${code}\``)
      .join(", "),
  ]);
  expect(tableUnder("## The audit", "day-to-day.md")).toEqual(expected);
});

test("the page of costs has the requests that are counted", () => {
  const cell = (bundle: Requests, final: Requests) => (name: (typeof UPSTREAMS)[number]) =>
    [bundle[name], final[name]].filter((count) => count !== undefined).join(", then ");
  const expected = CALL_REQUESTS.map(({ rail, source, bundle, final }) => [
    rail,
    source,
    ...UPSTREAMS.map(cell(bundle, final)),
  ]);
  const lowerCase = (row: string[]) => row.map((one) => one.toLowerCase());
  expect(tableUnder("## Requests to nodes", "costs.md").map(lowerCase)).toEqual(expected);
});
