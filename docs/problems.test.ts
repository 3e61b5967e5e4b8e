import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROBLEMS } from "../packages/service/src/lib/problems.ts";

test("the page lists every problem in the service's words, and no other", () => {
  const page = readFileSync(join(import.meta.dirname, "problems.md"), "utf8");
  const rows = page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(rows).toEqual(
    Object.entries(PROBLEMS).map(([code, [status, title, advice]]) => [`\`${code}\``, String(status), title, advice]),
  );
});
