import { makeAnswer, makeItem } from "./batches.ts";
import { makeBundle } from "./cases.ts";
import type { Corpus } from "./corpus.ts";
import { makeEvidence } from "./evidence.ts";
import { type Keys, oddKeys, rightKeys } from "./keys.ts";
import { Random } from "./random.ts";
import { makeReceipt } from "./receipts.ts";

/** What is altered: each is a kind of file that the programs read. */
export const KINDS = ["bundle", "history", "item", "batch", "evidence", "receipt"] as const;
export type Kind = (typeof KINDS)[number];

/** What the verifiers are given, of which one file is altered. */
export type Task = {
  kind: Kind;
  /** The file of a key history, or the `kid` of the one key. */
  keys: Keys["trust"];
  /** A bundle, the answer of a batch, or a receipt. */
  subject: Uint8Array;
  /** Evidence beside the bundle, and what is trusted: a checkpoint's file, or the root of a table. */
  evidence?: { bytes: Uint8Array; trusted: Uint8Array | string };
};

/** Tasks that are judged by the same right keys, if they are not of histories or evidence. */
export const ROUND = 500;

const SHARES: [weight: number, kind: Kind][] = [
  [40, "bundle"],
  [12, "history"],
  [12, "item"],
  [8, "batch"],
  [12, "evidence"],
  [16, "receipt"],
];

/** The tasks of a seed from an index to before another, in one round: the same every time, but for hedged signatures. */
export function makeTasks(seed: string, from: number, to: number, corpus: Corpus, only?: Kind): Task[] {
  const shared = rightKeys(new Random(`${seed} keys ${Math.floor(from / ROUND)}`));
  return Array.from({ length: to - from }, (_, at) => makeTask(seed, from + at, shared, corpus, only));
}

function makeTask(seed: string, index: number, shared: Keys, corpus: Corpus, only?: Kind): Task {
  const random = new Random(`${seed} task ${index}`);
  const kind = only ?? random.weigh(SHARES);
  if (kind === "evidence") return { kind, ...makeEvidence(random) };
  if (kind === "history") {
    const keys = oddKeys(random);
    return { kind, keys: keys.trust, subject: makeBundle(random, keys, corpus) };
  }
  const make = { bundle: makeBundle, item: makeItem, batch: makeAnswer, receipt: makeReceipt }[kind];
  return { kind, keys: shared.trust, subject: make(random, shared, corpus) };
}
