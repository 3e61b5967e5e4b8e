import { Worker } from "node:worker_threads";
import type { BatchNews, BatchTask, Found } from "./batch.ts";
import type { DefectName } from "./defects.ts";
import type { Invariant } from "./invariants.ts";

export type SimulateOptions = {
  /** Of the first schedule; the others follow one by one. */
  seed: number;
  runs: number;
  /** Threads. */
  workers: number;
  /** A mistake to plant. */
  defect?: DefectName;
  /** A thread stops after so many violations; one, unless given. */
  mostViolations?: number;
  /** A thread stops at a violation of this. */
  until?: Invariant;
  /** Called with the number of schedules that are done. */
  onProgress?: (runs: number, found: readonly Found[]) => void;
};

export type Summary = {
  runs: number;
  /** How often each thing happened, over all schedules. */
  counts: ReadonlyMap<string, number>;
  /** In the order of their seeds. */
  found: readonly Found[];
  ms: number;
};

/** Runs many schedules in threads of their own. The same seeds find the same, whatever the number of threads. */
export async function simulate(options: SimulateOptions): Promise<Summary> {
  const { seed, runs, workers, defect, mostViolations = 1, until, onProgress } = options;
  const begun = performance.now();
  const counts = new Map<string, number>();
  const found: Found[] = [];
  let done = 0;
  const take = (news: BatchNews) => {
    done += news.runs;
    found.push(...news.found);
    for (const [kind, count] of news.counts) counts.set(kind, (counts.get(kind) ?? 0) + count);
    onProgress?.(done, found);
  };
  const shared = { to: seed + runs, step: workers, mostViolations, ...(defect && { defect }), ...(until && { until }) };
  const threads = Array.from({ length: Math.min(workers, runs) }, (_, thread) =>
    runThread({ from: seed + thread, ...shared }, take),
  );
  await Promise.all(threads);
  found.sort((a, b) => a.seed - b.seed);
  return { runs: done, counts, found, ms: performance.now() - begun };
}

/** Threads without work: a new one takes as long to load its code as hundreds of schedules. They keep no process running. */
const idle: Worker[] = [];

function runThread(task: BatchTask, take: (news: BatchNews) => void): Promise<void> {
  const worker = idle.pop() ?? new Worker(new URL("./batch.ts", import.meta.url));
  worker.ref();
  worker.postMessage(task);
  return new Promise((resolve, reject) => {
    const onExit = (code: number) => reject(new Error(`a thread of the simulation ended with ${code}`));
    const onMessage = (news: BatchNews) => {
      take(news);
      if (!news.over) return;
      worker.off("message", onMessage).off("error", reject).off("exit", onExit).unref();
      idle.push(worker);
      resolve();
    };
    worker.on("message", onMessage).on("error", reject).on("exit", onExit);
  });
}
