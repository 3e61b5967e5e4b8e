import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROGRAMS } from "../programs.ts";
import { type Corpus, makeCorpus } from "./corpus.ts";
import { type Disagreement, fuzz, kindOf } from "./run.ts";
import { library, program, type Verifier } from "./verifiers.ts";

/* npm run fuzz:verify: holds the library and the programs of docs/verify against one another. */

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    replay: { type: "string", multiple: true, default: [] },
    save: { type: "string", default: "disagreements" },
  },
});
const [runs, from] = [Number(values.runs), Number(values.from)];
const folder = mkdtempSync(join(tmpdir(), "attestd-fuzz-"));
process.exitCode = await main().finally(() => rmSync(folder, { recursive: true }));

async function main(): Promise<number> {
  const verifiers: Record<string, Verifier> = { library: library() };
  for (const [language, find] of Object.entries(PROGRAMS)) {
    const found = await find(folder);
    if ("missing" in found) console.log(`without ${language}: ${found.missing}`);
    else verifiers[language] = program(found, folder);
  }
  const corpus = makeCorpus(values.replay);
  console.log(`${Object.keys(verifiers).join(", ")}; seed ${values.seed}, bundles ${from} to ${from + runs - 1}`);
  console.log(`corpus ${digestOf(corpus)}: ${sizes(corpus)}`);

  const started = performance.now();
  const verdicts = new Map<string, number>();
  const kinds = new Map<string, Disagreement[]>();
  for await (const { done, outputs, disagreements } of fuzz({ seed: values.seed, from, runs, corpus, verifiers })) {
    for (const verdict of outputs.flatMap(verdictsOf)) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    for (const disagreement of disagreements) {
      const kind = kindOf(disagreement);
      const known = kinds.get(kind) ?? [];
      kinds.set(kind, [...known, disagreement]);
      if (known.length === 0) console.log(`\n${kind}\n  ${save(disagreement)}`);
    }
    if (done % 1000 === 0 || done === runs) console.log(`${done} bundles, ${seconds(started)} s`);
  }
  console.log("\nWhat the library said, in bundles:");
  for (const [verdict, times] of [...verdicts].sort()) console.log(`  ${String(times).padStart(7)} ${verdict}`);
  const all = [...kinds.values()].flat().length;
  console.log(`\n${all === 0 ? "No disagreement" : `${all} disagreements of ${kinds.size} kinds`} in ${runs} bundles.`);
  for (const [kind, of] of kinds)
    console.log(`  ${String(of.length).padStart(7)} ${kind}: ${of.slice(0, 3).map(({ index }) => index)}`);
  return all === 0 ? 0 : 1;
}

/** Keeps the files of a disagreement, and gives the command that makes them again. */
function save({ index, bundle, keys, outputs }: Disagreement): string {
  const home = join(values.save, `${values.seed}-${index}`);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "bundle.json"), bundle);
  if (typeof keys !== "string") writeFileSync(join(home, "keys.json"), keys);
  const said = Object.entries(outputs).map(([name, output]) => `# ${name}\n${output}\n`);
  writeFileSync(join(home, "outputs.txt"), [typeof keys === "string" ? `kid ${keys}\n` : "", ...said].join("\n"));
  const replays = values.replay.map((one) => ` --replay ${one}`).join("");
  return `npm run fuzz:verify -- --seed ${values.seed} --from ${index} --runs 1${replays}   kept in ${home}`;
}

/** Of a bundle: whether it is verified, and each check that fails. */
function verdictsOf(output: string): string[] {
  const lines = output.split("\n");
  const all = lines.filter((line) => line.startsWith("FAIL ") || line.startsWith("warning "));
  return [...all, lines.at(-1)?.replace(/,.*/, "") ?? ""];
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
