import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BENCHMARKS, isBenchmark } from "./benchmarks.ts";
import { type Effort, FULL, QUICK, type Row } from "./measure.ts";
import { machine, tableOf } from "./table.ts";

/*
 * npm run bench -- [NAME …] [--quick] [--json]
 *
 * Each benchmark measures ours and its yardstick in turn, in a process of its own, and prints their ratio. A full run of all of
 * them writes its table into docs/measured/performance.md, which tells how to read it. Exit code 1: a benchmark failed; a goal
 * that is missed changes no exit code.
 */

const TABLE = /(<!-- the last full run -->)[\s\S]*(<!-- end -->)/;

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
});
const unknown = names.find((name) => !isBenchmark(name));
if (unknown === undefined) {
  await runAll(names.length > 0 ? names : Object.keys(BENCHMARKS), values.quick ? QUICK : FULL);
} else {
  console.error(`There is no benchmark ${unknown}; there are: ${Object.keys(BENCHMARKS).join(", ")}.`);
  process.exitCode = 2;
}

async function runAll(chosen: readonly string[], effort: Effort): Promise<void> {
  const rows: Row[] = [];
  for (const name of chosen) {
    if (!values.json) console.error(`${name} …`);
    const done = chosen.length > 1 ? rowsOfProcess(name) : await rowsOf(name, effort);
    if (values.json) for (const row of done) console.log(JSON.stringify(row));
    rows.push(...done);
  }
  const result = `${machine()}, ${effort.turns} turns\n\n${tableOf(rows)}`;
  if (!values.json) console.log(result);
  if (effort === FULL && names.length === 0 && process.exitCode !== 1) await record(result);
}

async function rowsOf(name: string, effort: Effort): Promise<Row[]> {
  if (!isBenchmark(name)) return [];
  return await (await BENCHMARKS[name]()).run(effort);
}

/**
 * Runs a benchmark in a process of its own, because what one leaves in memory slows the next.
 *
 * @returns no rows where it fails, so that those of the others are not lost
 */
function rowsOfProcess(name: string): Row[] {
  const args = [fileURLToPath(import.meta.url), name, "--json", ...(values.quick ? ["--quick"] : [])];
  try {
    const lines = execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    return lines
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch {
    console.error(`${name} failed`);
    process.exitCode = 1;
    return [];
  }
}

/** Puts the table of a full run in its place in docs/measured/performance.md. */
async function record(result: string): Promise<void> {
  const page = new URL("../docs/measured/performance.md", import.meta.url);
  const text = await readFile(page, "utf8");
  await writeFile(
    page,
    text.replace(TABLE, (_, start, end) => `${start}\n\n${result}\n\n${end}`),
  );
}
