import { parseArgs } from "node:util";
import { type Effort, FULL, QUICK, type Row } from "./measure.ts";
import { machine, tableOf } from "./table.ts";

/*
 * npm run bench -- [NAME …] [--quick] [--json]
 *
 * Each benchmark runs ours and its yardstick in turn, in one run, and prints their ratio (docs/performance.md).
 */

type Benchmark = { run(effort: Effort): Promise<Row[]> };

const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  trie: () => import("./trie.ts"),
  merkle: () => import("./merkle.ts"),
  journal: () => import("./journal.ts"),
  start: () => import("./start.ts"),
  verify: () => import("./verify.ts"),
  challenge: () => import("./challenge.ts"),
  documents: () => import("./documents.ts"),
  paid: () => import("./paid.ts"),
  browser: () => import("./browser.ts"),
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
    const done = (await (await BENCHMARKS[name]?.())?.run(effort)) ?? [];
    if (values.json) for (const row of done) console.log(JSON.stringify(row));
    rows.push(...done);
  }
  if (!values.json) console.log(`${machine()}, ${effort.turns} turns\n\n${tableOf(rows)}`);
}
