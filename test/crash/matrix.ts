import type { AccountKey } from "./accounts.ts";
import type { Cell, CellRun, Outcome, Successor } from "./cell.ts";
import type { JournalKind } from "./databases.ts";
import { RAILS } from "./payers.ts";
import { nameOf, POINTS, SCENARIOS, type Scenario } from "./points.ts";
import { SUBJECTS, type SubjectName } from "./subjects.ts";

/** The successors that each journal allows: an SQLite file is locked to one process, so it has no other replica. */
export const SUCCESSORS: Record<JournalKind, readonly Successor[]> = {
  sqlite: ["restart"],
  postgres: ["restart", "other replica"],
};

/** A column of the table. */
export type Column = Pick<Cell, "rail" | "journal" | "successor">;

export const COLUMNS: readonly Column[] = (["sqlite", "postgres"] as const).flatMap((journal) =>
  SUCCESSORS[journal].flatMap((successor) => RAILS.map((rail) => ({ rail, journal, successor }))),
);

/** Every possible cell of the matrix. */
export const CELLS: readonly Cell[] = POINTS.flatMap((point) => {
  const { rails }: Scenario = SCENARIOS[point.scenario];
  return COLUMNS.filter(({ rail }) => rails.includes(rail)).map((column) => ({ point, ...column }));
});

/** `settle after · base · postgres · other replica`, after the scenario's name unless it is `plain`. */
export function titleOf({ point, rail, journal, successor }: Cell): string {
  const scenario = point.scenario === "plain" ? [] : [point.scenario];
  return [...scenario, nameOf(point), rail, journal, successor].join(" · ");
}

/** The title of the cell, the subject, and the account's key where it is not ed25519. */
export function runTitle({ subject, accountKey, ...cell }: CellRun): string {
  return [titleOf(cell), subject, ...(accountKey && accountKey !== "ed25519" ? [accountKey] : [])].join(" · ");
}

/** Cells that together cover every rail, journal, subject, account's key and effect, and both sides of a commit. */
const SAMPLE: readonly (readonly [string, SubjectName, AccountKey?])[] = [
  ["attestation_signed after · base · postgres · other replica", "inclusion"],
  ["settle after · solana · postgres · other replica", "transaction"],
  ["call_begun before · algorand · postgres · restart", "inclusion"],
  ["verify after · base · sqlite · restart", "block"],
  ["submit after · algorand · sqlite · restart", "block", "falcon-1024"],
  ["answer after · solana · sqlite · restart", "batch"],
];

export function sampleOf(cells: readonly Cell[]): CellRun[] {
  return SAMPLE.map(([title, subject, accountKey]) => {
    const cell = cells.find((candidate) => titleOf(candidate) === title);
    if (!cell) throw new Error(`there is no cell ${title}`);
    return { ...cell, subject, ...(accountKey && { accountKey }) };
  });
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Upper bound of the time between the start of a commit and the kill `during` it, in ms: an fsync takes one to ten. */
const DURING_MS = 8;

/**
 * All cells, `times` times, each time with another subject in each cell: four times have all subjects. The seed determines
 * the order, so that different cells run beside each other each time, and the delay of each kill `during` a commit.
 */
export function drawRuns(
  cells: readonly Cell[],
  times: number,
  seed: number,
  { subjects = SUBJECTS, accountKey }: { subjects?: readonly SubjectName[]; accountKey?: AccountKey | undefined } = {},
): CellRun[] {
  const random = randomOf(seed);
  const first = cells.map(() => Math.floor(random() * subjects.length));
  return Array.from({ length: times }, (_, time) =>
    cells
      .map((cell, n) => {
        const subject = subjects[((first[n] as number) + time) % subjects.length] as SubjectName;
        return {
          run: { ...cell, subject, ...(accountKey && { accountKey }) },
          at: random(),
          afterMs: Math.floor(random() * DURING_MS),
        };
      })
      .sort((a, b) => a.at - b.at)
      .map(({ run, afterMs }) => ("commit" in run.point ? { ...run, point: { ...run.point, afterMs } } : run)),
  ).flat();
}

/** Runs work on items in order, at most `jobs` at a time. @returns the results in the order of the items */
export async function inParallel<T, R>(items: readonly T[], jobs: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      for (const [i, item] of waiting) results[i] = await work(item);
    }),
  );
  return results;
}

/** A buyer's answers, repetitions counted: `no answer ×12, 200`. */
export function summaryOf(answers: Outcome["answers"]): string {
  const runs: { answer: string; count: number }[] = [];
  for (const answer of answers) {
    const last = runs.at(-1);
    if (last?.answer === answer) last.count += 1;
    else runs.push({ answer, count: 1 });
  }
  return runs.map(({ answer, count }) => (count > 1 ? `${answer} ×${count}` : answer)).join(", ");
}
