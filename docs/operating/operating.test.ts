import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { envExample } from "../../build/env-example.ts";
import { CODES, INVARIANTS } from "../../packages/service/src/audit/report.ts";
import { settingsOf } from "../../packages/service/src/config/config.ts";
import { RAIL_SETTINGS } from "../../packages/service/src/payment/rails/registry.ts";
import { CALL_REQUESTS, type Requests, UPSTREAMS } from "../../test/e2e/call-requests.ts";

/** Cells of the first table under a heading of a page, without its first two rows. */
function tableUnder(heading: string, page: string): string[][] {
  const [, section = ""] = `\n${readFileSync(join(import.meta.dirname, page), "utf8")}`.split(`\n${heading}\n`);
  const lines = section.split("\n## ")[0]?.split("\n") ?? [];
  const rows = lines.filter((line) => line.startsWith("|")).slice(2);
  return rows.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const namesIn = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);
const settings = tableUnder("# Settings", "settings.md");
const SETTINGS = settingsOf(RAIL_SETTINGS);

test("the page lists every setting of the service, and no other", () => {
  const documented = settings.flatMap(([names]) => namesIn(names));
  const expected = SETTINGS.map(({ name, fromFile }) => (fromFile ? `${name}[_FILE]` : name));
  expect(documented.toSorted()).toEqual(expected.toSorted());
});

test.each(settings)(
  "the page states the defaults of %s, or that one of them is required",
  (names, defaults, meaning) => {
    const documented = namesIn(names).map((one) => one.replace("[_FILE]", ""));
    const row = SETTINGS.filter(({ name }) => documented.includes(name));
    expect(meaning.includes("required")).toBe(row.some(({ required }) => required));
    // The page has the network's name instead of a hash of 44 characters.
    const fixed = row.filter((one) => one.default !== undefined && one.name !== "ALGORAND_GENESIS_HASH");
    expect(namesIn(defaults)).toEqual(expect.arrayContaining(fixed.map((one) => String(one.default || 0))));
  },
);

test(".env.example has every setting: `node build/env-example.ts` writes it", () => {
  const file = readFileSync(join(import.meta.dirname, "../../.env.example"), "utf8");
  expect(file).toBe(envExample());
  const named = [...file.matchAll(/^(?:# )?([A-Z][A-Z_]*)=/gm)].map(([, name]) => name as string);
  const expected = SETTINGS.flatMap(({ name, fromFile }) => (fromFile ? [name, `${name}_FILE`] : [name]));
  expect(named.toSorted()).toEqual(expected.toSorted());
  const required = SETTINGS.filter((setting) => setting.required).map(({ name }) => name);
  const uncommented = [...file.matchAll(/^([A-Z][A-Z_]*)=/gm)].map(([, name]) => name as string);
  expect(uncommented.toSorted()).toEqual(required.toSorted());
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
