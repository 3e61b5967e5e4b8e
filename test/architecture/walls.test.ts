import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withStructure } from "../../build/structure.ts";

/* Rules that an import checker cannot check. dependency-cruiser.config.mjs has the rules of imports. */

const ROOT = join(import.meta.dirname, "../..");
const SOURCES = readdirSync(join(ROOT, "packages"), { recursive: true, encoding: "utf8" })
  .map((path) => `packages/${path}`)
  .filter((path) => /\.[mc]?[jt]s$/.test(path) && !/node_modules|\/dist\//.test(path))
  .filter((path) => !/\.test\.ts$|\/(test|simulation|fixtures)\/|^packages\/web\/example\.ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

test("one file reads the environment", () => {
  const readers = SOURCES.filter(({ text }) => /\bprocess\s*\.\s*env\b|\bprocess\s*\[|from "node:process"/.test(text));
  expect(readers.map(({ path }) => path)).toEqual(["packages/attestd/src/terminal/environment.ts"]);
});

test("docs/architecture.md shows the floors to which imports are held: else run node build/structure.ts", () => {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  expect(page).toBe(withStructure(page));
});

test("the URL of a worker or a resource stays in its package", () => {
  const urls = SOURCES.flatMap(({ path, text }) =>
    [...text.matchAll(/new URL\(\s*["']([^"']+)["'],\s*import\.meta\.url/g)].map(([, url = ""]) => ({ path, url })),
  );
  expect(urls.length).toBeGreaterThan(0);
  const leaving = urls.filter(({ path, url }) => {
    const [, name] = path.split("/");
    return !join(path, "..", url).startsWith(`packages/${name}/`) && join(path, "..", url) !== `packages/${name}`;
  });
  expect(leaving).toEqual([]);
});
