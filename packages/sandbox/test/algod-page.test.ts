import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { vectors } from "../../proof/test/vectors.ts";
import { USUAL } from "../src/algorand/behaviour.ts";

const page = readFileSync(join(import.meta.dirname, "../algod.md"), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

test("the page lists every behaviour, and no other", () => {
  const names = rows.map(([, name = ""]) => /^`(\w+)`$/.exec(name)?.[1]).filter((name) => name !== undefined);
  expect(names.toSorted()).toEqual(Object.keys(USUAL).toSorted());
});

test("the page lists every recorded request with its status", () => {
  const recorded = vectors.json("go-algorand/answers-v42.json");
  const expected = recorded.map(({ request, status }: { request: string; status: number }) => [request, `${status}`]);
  expect(
    rows.map(([, request, status]) => [request, status]).filter(([, status = ""]) => /^\d{3}$/.test(status)),
  ).toEqual(expected);
});
