// Tests the release archives of this platform: `npm run dist`, then `npm run test:dist`.
// With --quick it leaves out the second build and the tests of the command; with --record it writes the figures to docs/installing.md.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { buildsAgain } from "./build.ts";
import { figuresTable, record } from "./figures.ts";
import { ARCHIVES, DIST, NotTried, ROOT, run } from "./files.ts";
import { signsByKms } from "./kms.ts";
import { purchaseInNoSystem } from "./no-system.ts";
import { contentsAsListed } from "./sbom.ts";
import { sizes } from "./size.ts";
import { startFigures } from "./start.ts";
import { surroundings } from "./surroundings.ts";
import { unitsAnalysed, unitsRun } from "./units.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, record: { type: "boolean", default: false } },
});
const came = { passed: 0, failed: 0, "not tried": 0 };

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
const size = await check("takes at most 150 MB and 300 files on disk", sizes, ({ packed }) => {
  return `${packed.bytes} bytes in ${packed.files} files`;
});
await check("the bill of materials lists all that is inside, as npm knows it", () => contentsAsListed(unpacked));
await surroundings(unpacked, check);
await check("signs with keys in each KMS", () => signsByKms(unpacked));
await check("sells in no system: an empty root, read-only, as a stranger", () => purchaseInNoSystem(unpacked));
await check("systemd-analyze has no complaint about the units", () => unitsAnalysed(unpacked));
await check("sells as systemd's unit, with its seeds, by the signer's unit, and by a KMS", () => unitsRun(unpacked));
const start = await check(
  "starts in at most 0.7 of the time and 0.8 of the CPU time of the sources, and takes at most 0.9 of their memory",
  () => startFigures(unpacked),
  ({ packed, sources }) => `${Math.round(packed.ms)} ms of ${Math.round(sources.ms)} ms`,
);
if (!options.quick) {
  await check("a second build elsewhere gives the same bytes", () => buildsAgain());
  await check("the packed command passes the tests of the command", () => {
    const tests = ["vitest", "run", "--maxWorkers", "2", "packages/attestd/test"];
    const env = { ...process.env, ATTESTD_PACKED: join(unpacked, ARCHIVES.top, "bin/attestd") };
    return /Tests .*/.exec(run("npx", tests, { cwd: ROOT, env: { ...env, NO_COLOR: "1" } }))?.[0];
  });
}

if (size && start) {
  const text = figuresTable(size, start);
  console.log(`\n${text}\n`);
  if (options.record) record(text);
}
console.log(
  Object.entries(came)
    .map(([what, count]) => `${count} ${what}`)
    .join(", "),
);

/**
 * Prints what came of it.
 *
 * @param what throws NotTried where it cannot be tried
 * @param figure of what it returns, to print with it
 * @returns what it returned; undefined unless it passed
 */
async function check<T>(
  name: string,
  what: () => T | Promise<T>,
  figure = (result: T): string | undefined => (typeof result === "string" ? result : undefined),
): Promise<T | undefined> {
  try {
    const result = await what();
    const shown = figure(result);
    console.log(`✓ ${name}${shown === undefined ? "" : `: ${shown}`}`);
    came.passed += 1;
    return result;
  } catch (error) {
    const isTried = !(error instanceof NotTried);
    console.log(isTried ? `✕ ${name}\n${(error as Error).message}` : `- ${name}: not tried, ${error.message}`);
    came[isTried ? "failed" : "not tried"] += 1;
    if (isTried) process.exitCode = 1;
    return undefined;
  }
}
