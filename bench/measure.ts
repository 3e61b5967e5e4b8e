/** How long a benchmark takes: turns that count, turns before them, and how much load one turn is. */
export type Effort = { turns: number; warmUp: number; seconds: number; payments: number; rows: number };

export const FULL: Effort = { turns: 9, warmUp: 2, seconds: 3, payments: 2000, rows: 1_000_000 };
export const QUICK: Effort = { turns: 3, warmUp: 1, seconds: 1, payments: 300, rows: 10_000 };

/** One row of the table, as `--json` prints it. */
export type Row = {
  name: string;
  /** Of `ours` and `yardstick`, which are medians over the turns. */
  unit: string;
  ours: number;
  yardstick: number;
  /** Median over the turns of the ratio within a turn, and the lowest and the highest of them. */
  ratio: number;
  spread: [lowest: number, highest: number];
  goal: string;
  met: boolean;
};

/** What ours and the yardstick took, or did, one right after the other. */
export type Turn = { ours: number; yardstick: number };

/**
 * `atLeast` and `atMost` judge the ratio. `ours` judges our own figure: reported, and decides nothing alone.
 */
export type Goal = { atLeast: number } | { atMost: number } | { ours: number };

/**
 * Measures ours and the yardstick in turn, each first in every other turn, so that whatever else the machine does meets
 * both alike.
 */
export async function inTurns(
  { turns, warmUp }: Effort,
  ours: () => Promise<number>,
  yardstick: () => Promise<number>,
): Promise<Turn[]> {
  const measured: Turn[] = [];
  for (let turn = -warmUp; turn < turns; turn++) {
    const first = turn % 2 === 0 ? await ours() : undefined;
    const theirs = await yardstick();
    const mine = first ?? (await ours());
    if (turn >= 0) measured.push({ ours: mine, yardstick: theirs });
  }
  return measured;
}

/**
 * Judges the turns.
 *
 * @param ratio how the ratio of a turn is taken: `speed` where both figures are times and more than 1 means that ours is
 *   faster; `share` is ours by the yardstick, whatever they are
 */
export function judge(name: string, unit: string, turns: readonly Turn[], ratio: "speed" | "share", goal: Goal): Row {
  const ratios = turns.map(({ ours, yardstick }) => (ratio === "speed" ? yardstick / ours : ours / yardstick));
  const [ours, yardstick, middle] = [
    median(turns.map((turn) => turn.ours)),
    median(turns.map((turn) => turn.yardstick)),
    median(ratios),
  ];
  const spread: [number, number] = [Math.min(...ratios), Math.max(...ratios)];
  const verdict = { name, unit, ours, yardstick, ratio: middle, spread };
  if ("ours" in goal) return { ...verdict, goal: `≤ ${goal.ours} ${unit}`, met: ours <= goal.ours };
  if ("atLeast" in goal) return { ...verdict, goal: `≥ ${goal.atLeast}×`, met: middle >= goal.atLeast };
  return { ...verdict, goal: `≤ ${goal.atMost}×`, met: middle <= goal.atMost };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new Error("a median of nothing");
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The value below which such a part of the values is, from 0 to 1. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

/** Time of some work in ms. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** CPU time of some work of this process in ms. */
export async function cpuTimed(work: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
