import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMAND_PACKAGES, entriesOf, MODULE_URL } from "../../build/release/bundle.ts";
import { ROOT } from "../../build/release/paths.ts";
import { ownSource, REPLACED } from "../../build/release/plugins.ts";

/* What `npm run dist` refuses, found without a build. */

test.each([
  [COMMAND_PACKAGES, "packages/attestd/src/main.ts", "attestd"],
  ["sandbox", "packages/sandbox/src/sandbox.ts", "sandbox"],
])("no source of %s looks for a file where an archive has none", async (packages, first, name) => {
  const entries = await entriesOf(packages, first, name);
  const faults: string[] = [];
  let read = 0;
  for await (const path of glob(`packages/${packages}/src/**/*.ts`, { cwd: ROOT })) {
    if (/\.test\.ts$|\/fixtures\//.test(path) || REPLACED.includes(path)) continue;
    read++;
    try {
      ownSource(path, readFileSync(join(ROOT, path), "utf8"), MODULE_URL, entries);
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  expect(faults).toEqual([]);
  expect(read).toBeGreaterThan(50);
});
