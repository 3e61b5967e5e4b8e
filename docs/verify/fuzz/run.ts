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

/**
 * Has the verifiers judge the bundles of a seed, batch by batch: each batch is the same in every run that holds it whole.
 * A batch is made while the one before it is judged.
 */
export async function* fuzz({ seed, from, runs, corpus, verifiers }: Run): AsyncGenerator<Progress> {
  let pending: Promise<Progress> | undefined;
  try {
    for (let start = from; start < from + runs; ) {
      const place = start % ROUND;
      const first = start - (place < LONG ? place : place - LONG);
      const end = Math.min(from + runs, first + (place < LONG ? LONG : ROUND - LONG));
      const keys = makeKeys(seed, first);
      const bundles = Array.from({ length: end - start }, (_, at) => makeBundle(seed, start + at, keys, corpus));
      const before = pending;
      pending = judge({ keys, bundles }, start, end - from, verifiers);
      if (before) yield await before;
      start = end;
    }
    if (pending) yield await pending;
  } finally {
    // Whoever stops early has no program running on.
    await pending;
  }
}

async function judge(batch: Batch, start: number, done: number, verifiers: Run["verifiers"]): Promise<Progress> {
  const { keys, bundles } = batch;
  const said = await Promise.all(
    Object.entries(verifiers).map(async ([name, verifier]) => [name, await verifier(batch)] as const),
  );
  const disagreements = bundles.flatMap((bundle, at): Disagreement[] => {
    const outputs = Object.fromEntries(said.map(([name, all]) => [name, all[at] ?? ""]));
    const isShared = new Set(Object.values(outputs)).size === 1;
    return isShared ? [] : [{ index: start + at, bundle, keys: keys.trust, outputs }];
  });
  return { done, outputs: said[0]?.[1] ?? [], disagreements };
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
