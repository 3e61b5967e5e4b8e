import { parentPort } from "node:worker_threads";
import { textOf } from "./answers.ts";
import { DEFECTS, type DefectName } from "./defects.ts";
import type { Invariant, Violation } from "./invariants.ts";
import type { Report } from "./schedule.ts";
import { installPlainSignals } from "./signals.ts";

/** Seeds `from`, `from + step`, … below `to`. */
export type BatchTask = {
  from: number;
  to: number;
  step: number;
  defect?: DefectName;
  /** It stops after so many violations, or one of this kind. */
  mostViolations: number;
  until?: Invariant;
};

/** A violation with the course of things that led to it. */
export type Found = { seed: number; violation: Violation; trace: string[] };

/** The progress of a batch: the schedules since its last message. */
export type BatchNews = { runs: number; counts: Map<string, number>; found: Found[]; over: boolean };

const RUNS_A_MESSAGE = 100;

/** Of the schedule that runs. */
let unheard: unknown;

/** Runs schedules in this thread, whose signals, stack traces and unheard rejections are the simulation's own. */
async function runBatch(task: BatchTask, tell: (news: BatchNews) => void) {
  const { from, to, step, defect: name, mostViolations, until } = task;
  const { runSchedule } = await import("./schedule.ts");
  const defect = name === undefined ? {} : DEFECTS[name].defect;

  async function run(seed: number, trace?: (line: string) => void): Promise<Report> {
    unheard = undefined;
    const report = await runSchedule({ seed, defect, ...(trace && { trace }) });
    // Unhandled rejections end the process of a service: Node emits them after a turn of the event loop.
    await new Promise(setImmediate);
    if (unheard === undefined) return report;
    return { ...report, violation: { invariant: "heard", detail: textOf(unheard) } };
  }

  let news: BatchNews = { runs: 0, counts: new Map(), found: [], over: false };
  let violations = 0;
  let enough = false;
  for (let seed = from; seed < to && !enough; seed += step) {
    // Thousands of errors are thrown, and their stacks are never read.
    Error.stackTraceLimit = 0;
    const { violation, counts } = await run(seed);
    news.runs += 1;
    for (const [kind, count] of counts) news.counts.set(kind, (news.counts.get(kind) ?? 0) + count);
    if (violation) {
      violations += 1;
      enough = violations >= mostViolations || violation.invariant === until;
      const trace: string[] = [];
      Error.stackTraceLimit = 20;
      const again = await run(seed, (line) => trace.push(line));
      news.found.push({ seed, violation: again.violation ?? violation, trace });
    }
    if (news.runs < RUNS_A_MESSAGE) continue;
    tell(news);
    news = { runs: 0, counts: new Map(), found: [], over: false };
  }
  tell({ ...news, over: true });
}

const port = parentPort;
if (port) {
  installPlainSignals();
  process.on("unhandledRejection", (error) => {
    unheard ??= error;
  });
  // One task at a time: the next one comes when this one is over. What fails outside a schedule ends the thread.
  port.on("message", (task: BatchTask) => {
    runBatch(task, (news) => port.postMessage(news)).catch((error) =>
      setImmediate(() => {
        throw error;
      }),
    );
  });
}
