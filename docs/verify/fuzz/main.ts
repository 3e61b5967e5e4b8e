import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROGRAMS } from "../programs.ts";
import { type Corpus, makeCorpus } from "./corpus.ts";
import { Counts } from "./counts.ts";
import { type Disagreement, fuzz, kindOf } from "./run.ts";
import { KINDS } from "./tasks.ts";
import { library, program, type Verifier } from "./verifiers.ts";

/* npm run fuzz:verify: holds the library and the programs of docs/verify against one another. */

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    kind: { type: "string" },
    replay: { type: "string", multiple: true, default: [] },
    save: { type: "string", default: "disagreements" },
  },
});
const [runs, from] = [Number(values.runs), Number(values.from)];
const only = KINDS.find((kind) => kind === values.kind);
if (values.kind !== undefined && only === undefined) throw new Error(`--kind is one of ${KINDS.join(", ")}`);
const folder = mkdtempSync(join(tmpdir(), "attestd-fuzz-"));
process.exitCode = await main().finally(() => rmSync(folder, { recursive: true }));

async function main(): Promise<number> {
  const verifiers: Record<string, Verifier> = {
    library: library(),
    "library without Falcon": library(undefined, false),
  };
  for (const [language, find] of Object.entries(PROGRAMS)) {
    const found = await find(folder);
    if ("missing" in found) console.log(`without ${language}: ${found.missing}`);
    else verifiers[language] = program(found, folder, language !== "Python");
  }
  const corpus = makeCorpus(values.replay);
  console.log(`${Object.keys(verifiers).join(", ")}; seed ${values.seed}, files ${from} to ${from + runs - 1}`);
  console.log(`corpus ${digestOf(corpus)}: ${sizes(corpus)}`);

  const started = performance.now();
  const counts = new Counts();
  const kinds = new Map<string, Disagreement[]>();
  const run = { seed: values.seed, from, runs, corpus, verifiers, only };
  for await (const { done, tasks, outputs, disagreements } of fuzz(run)) {
    for (const [at, { kind }] of tasks.entries()) counts.add(kind, outputs[at] ?? "");
    for (const disagreement of disagreements) {
      const kind = kindOf(disagreement);
      const known = kinds.get(kind) ?? [];
      kinds.set(kind, [...known, disagreement]);
      if (known.length === 0) console.log(`\n${kind}\n  ${save(disagreement)}`);
    }
    if (done % 1000 === 0 || done === runs) console.log(`${done} files, ${seconds(started)} s`);
  }
  counts.print();
  const all = [...kinds.values()].flat().length;
  console.log(`\n${all === 0 ? "No disagreement" : `${all} disagreements of ${kinds.size} kinds`} in ${runs} files.`);
  for (const [kind, of] of kinds)
    console.log(`  ${String(of.length).padStart(7)} ${kind}: ${of.slice(0, 3).map(({ index }) => index)}`);
  return all === 0 ? 0 : 1;
}

/** Keeps the files of a disagreement, and gives the command that makes them again. */
function save({ index, task, outputs }: Disagreement): string {
  const { keys, subject, evidence } = task;
  const home = join(values.save, `${values.seed}-${index}`);
  mkdirSync(home, { recursive: true });
  const write = (name: string, content: Uint8Array | string | undefined) =>
    content instanceof Uint8Array && writeFileSync(join(home, name), content);
  write("file.json", subject);
  write("keys.json", keys);
  write("evidence.json", evidence?.bytes);
  write("checkpoint.json", evidence?.trusted);
  const said = Object.entries(outputs).map(([name, output]) => `# ${name}\n${output}\n`);
  const named = [keys, evidence?.trusted].filter((one) => typeof one === "string");
  writeFileSync(join(home, "outputs.txt"), [`${task.kind} ${named.join(" ")}\n`, ...said].join("\n"));
  const options = [...values.replay.map((one) => ` --replay ${one}`), only ? ` --kind ${only}` : ""].join("");
  return `npm run fuzz:verify -- --seed ${values.seed} --from ${index} --runs 1${options}   kept in ${home}`;
}

function digestOf(corpus: Corpus): string {
  const hash = createHash("sha256");
  for (const all of Object.values(corpus))
    for (const some of Object.values(all)) for (const bytes of some) hash.update(bytes);
  return hash.digest("hex").slice(0, 16);
}

function sizes(corpus: Corpus): string {
  const of = ([chain, all]: [string, Record<string, Uint8Array[]>]) =>
    Object.entries(all).map(([what, some]) => `${some.length} ${what} of ${chain}`);
  return Object.entries(corpus).flatMap(of).join(", ");
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000);
}
