import { type Batch, LONG, makeBundle, makeKeys, ROUND } from "./cases.ts";
import type { Corpus } from "./corpus.ts";
import type { Verifier } from "./verifiers.ts";

/** A bundle of which not all verifiers say the same. */
export type Disagreement = {
  index: number;
  bundle: Uint8Array;
  keys: Uint8Array | string;
  outputs: Record<string, string>;
};

export type Run = { seed: string; from: number; runs: number; corpus: Corpus; verifiers: Record<string, Verifier> };

/** What came of a batch: what the first verifier said of each bundle, and where another said something else. */
export type Progress = { done: number; outputs: string[]; disagreements: Disagreement[] };

/** Has the verifiers judge the bundles of a seed, batch by batch: each batch is the same in every run that holds it whole. */
export async function* fuzz({ seed, from, runs, corpus, verifiers }: Run): AsyncGenerator<Progress> {
  for (let start = from; start < from + runs; ) {
    const first = start - (start % ROUND < LONG ? start % ROUND : (start % ROUND) - LONG);
    const end = Math.min(from + runs, first + (first % ROUND === 0 ? LONG : ROUND - LONG));
    const keys = makeKeys(seed, first);
    const indexes = Array.from({ length: end - start }, (_, place) => start + place);
    const batch: Batch = { keys, bundles: indexes.map((index) => makeBundle(seed, index, keys, corpus)) };
    const names = Object.keys(verifiers);
    const said = await Promise.all(names.map((name) => (verifiers[name] as Verifier)(batch)));
    const disagreements = indexes.flatMap((index, place): Disagreement[] => {
      const outputs = Object.fromEntries(names.map((name, which) => [name, said[which]?.[place] ?? ""]));
      if (new Set(Object.values(outputs)).size === 1) return [];
      return [{ index, bundle: batch.bundles[place] as Uint8Array, keys: keys.trust, outputs }];
    });
    yield { done: end - from, outputs: said[0] ?? [], disagreements };
    start = end;
  }
}

/** The checks in which verifiers differ, and who says what of them: the same for disagreements of one kind. */
export function kindOf({ outputs }: Disagreement): string {
  const lines = Object.entries(outputs).map(
    ([name, output]) => [name, output.split("\n").map(withoutNumbers)] as const,
  );
  const isFormed = lines.every(([, own]) => own[0] === "pass schema");
  const isShared = (line: string) => lines.every(([, own]) => own.includes(line));
  const differing = (own: string[]) => own.filter((line, at) => (isFormed || at === 0) && !isShared(line)).join(", ");
  const groups = Map.groupBy(lines, ([, own]) => differing(own));
  return [...groups].map(([line, who]) => `${who.map(([name]) => name).join(", ")}: ${line}`).join(" | ");
}

/** A line of an output; what differs from key to key and from round to round says nothing of a disagreement. */
function withoutNumbers(line: string): string {
  return line.replace(/^key \S+ /, "key ").replace(/ in round \d+$/, "");
}
