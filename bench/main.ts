import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Effort, FULL, QUICK, type Row } from "./measure.ts";
import { machine, tableOf } from "./table.ts";

/*
 * npm run bench -- [NAME …] [--quick] [--json]
 *
 * Each benchmark runs ours and its yardstick in turn, in one run, and prints their ratio. A full run of all of them
 * writes its table into docs/performance.md, which tells how to read it.
 */

const TABLE = /(<!-- the last full run -->)[\s\S]*(<!-- end -->)/;

type Benchmark = { run(effort: Effort): Promise<Row[]> };

const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  trie: () => import("./trie.ts"),
  merkle: () => import("./merkle.ts"),
  "state-proof": () => import("./state-proof.ts"),
  journal: () => import("./journal.ts"),
  "journal-size": () => import("./journal-size.ts"),
  "resting-call": () => import("./resting-call.ts"),
  batch: () => import("./batch.ts"),
  start: () => import("./start.ts"),
  install: () => import("./install.ts"),
  verify: () => import("./verify.ts"),
  challenge: () => import("./challenge.ts"),
  documents: () => import("./documents.ts"),
  round: () => import("./round.ts"),
  upstream: () => import("./upstream.ts"),
  paid: () => import("./paid.ts"),
  "paid-cost": () => import("./paid-cost.ts"),
  observed: () => import("./observed.ts"),
  browser: () => import("./browser.ts"),
  growth: () => import("./growth.ts"),
  overload: () => import("./overload.ts"),
  stall: () => import("./stall.ts"),
  "verify-flood": () => import("./verify-flood.ts"),
};

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
});
const unknown = names.find((name) => !Object.hasOwn(BENCHMARKS, name));
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
    const done = await rowsOf(name, effort);
    if (values.json) for (const row of done) console.log(JSON.stringify(row));
    rows.push(...done);
  }
  const result = `${machine()}, ${effort.turns} turns\n\n${tableOf(rows)}`;
  if (!values.json) console.log(result);
  if (effort === FULL && names.length === 0 && process.exitCode !== 1) await record(result);
}

/** @returns no rows where the benchmark fails, which is said, so that those of the others are not lost */
async function rowsOf(name: string, effort: Effort): Promise<Row[]> {
  try {
    return (await (await BENCHMARKS[name]?.())?.run(effort)) ?? [];
  } catch (error) {
    console.error(name, "failed:", error);
    process.exitCode = 1;
    return [];
  }
}

/** Puts the table of a full run in its place in docs/performance.md. */
async function record(result: string): Promise<void> {
  const page = new URL("../docs/performance.md", import.meta.url);
  const text = await readFile(page, "utf8");
  await writeFile(
    page,
    text.replace(TABLE, (_, start, end) => `${start}\n\n${result}\n\n${end}`),
  );
}
