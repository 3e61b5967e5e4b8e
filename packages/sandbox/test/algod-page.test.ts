import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { USUAL } from "../src/algorand/behaviour.ts";

const RECORDINGS = process.env.ATTESTD_RECORDINGS;
if (RECORDINGS === undefined) console.log("ATTESTD_RECORDINGS is unset: the table of answers is not checked");

const page = readFileSync(join(import.meta.dirname, "../algod.md"), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

test("the page lists every behaviour, and no other", () => {
  const names = rows.map(([, name = ""]) => /^`(\w+)`$/.exec(name)?.[1]).filter((name) => name !== undefined);
  expect(names.toSorted()).toEqual(Object.keys(USUAL).toSorted());
});

test.skipIf(RECORDINGS === undefined)("the page lists every recorded request with its status", () => {
  const recorded = JSON.parse(readFileSync(join(RECORDINGS ?? "", "answers-v42.json"), "utf8"));
  const expected = recorded.map(({ request, status }: { request: string; status: number }) => [request, `${status}`]);
  expect(
    rows.map(([, request, status]) => [request, status]).filter(([, status = ""]) => /^\d{3}$/.test(status)),
  ).toEqual(expected);
});
