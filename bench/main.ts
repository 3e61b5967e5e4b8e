/*
 * npm run bench -- [NAME …]
 *
 * Each benchmark runs ours and its yardstick in turn, in one process, and prints the ratio.
 */

const BENCHMARKS: Readonly<Record<string, () => Promise<unknown>>> = { trie: () => import("./trie.ts") };

const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(BENCHMARKS, name));
if (unknown === undefined) {
  for (const name of names.length > 0 ? names : Object.keys(BENCHMARKS)) await BENCHMARKS[name]?.();
} else {
  console.error(`There is no benchmark ${unknown}; there are: ${Object.keys(BENCHMARKS).join(", ")}.`);
  process.exitCode = 2;
}
