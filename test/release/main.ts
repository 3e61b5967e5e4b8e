// Tests the release archives of this platform: `npm run dist`, then `npm run test:dist`. docs/installing.md has the last result.
// With --quick it leaves out the second build and the tests of the command.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { buildsAgain } from "./build.ts";
import { ARCHIVES, DIST, ROOT, run } from "./files.ts";
import { signsByKms } from "./kms.ts";
import { purchaseInNoSystem } from "./no-system.ts";
import { contentsAsListed } from "./sbom.ts";
import { startTimes } from "./start.ts";
import { surroundings } from "./surroundings.ts";

const { values: options } = parseArgs({ options: { quick: { type: "boolean", default: false } } });

const missing = ARCHIVES.find((name) => !existsSync(join(DIST, name)));
if (missing !== undefined) {
  console.error(`There is no dist/${missing}: run npm run dist first.`);
  process.exit(2);
}

await using folder = await temporaryFolder();
// A name that a careless script would break.
const unpacked = join(folder.path, "é and spaces");
mkdirSync(unpacked);

await check("the sums are those of the archives, and not of a truncated one", () => {
  run("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: DIST });
  const cut = join(folder.path, "cut");
  mkdirSync(cut);
  for (const name of ARCHIVES) writeFileSync(join(cut, name), readFileSync(join(DIST, name)).subarray(0, -1));
  writeFileSync(join(cut, "SHA256SUMS"), readFileSync(join(DIST, "SHA256SUMS")));
  if (spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: cut }).status === 0) throw new Error("they fit");
});
await check("unpacks", () => {
  for (const name of ARCHIVES) run("tar", ["-xzf", join(DIST, name), "-C", unpacked]);
  const [bytes] = run("du", ["-sb", "--apparent-size", "."], { cwd: unpacked }).split("\t");
  return `${bytes} bytes with the sandbox`;
});
await check("the bill of materials lists all that is inside, as npm knows it", () => contentsAsListed(unpacked));
await surroundings(unpacked, check);
await check("signs with keys in each KMS", () => signsByKms(unpacked));
await check("sells in no system: an empty root, read-only, as a stranger", () => purchaseInNoSystem(unpacked));
await check("starts in at most 0.7 of the time that the sources take", () => startTimes(unpacked));
if (!options.quick) {
  await check("a second build elsewhere gives the same bytes", () => buildsAgain());
  await check("the packed command passes the tests of the command", () => {
    const tests = ["vitest", "run", "--maxWorkers", "2", "packages/attestd/test"];
    const env = { ...process.env, ATTESTD_PACKED: join(unpacked, ARCHIVES.top, "bin/attestd") };
    return /Tests .*/.exec(run("npx", tests, { cwd: ROOT, env: { ...env, NO_COLOR: "1" } }))?.[0];
  });
}

/** Prints what came of it. @param what returns a figure to print with it, or throws */
async function check(name: string, what: () => unknown): Promise<void> {
  try {
    const figure = await what();
    console.log(`✓ ${name}${figure ? `: ${figure}` : ""}`);
  } catch (error) {
    console.log(`✕ ${name}\n${(error as Error).message}`);
    process.exitCode = 1;
  }
}
