import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

/** Measurements that a process makes of itself. */
export type Vitals = {
  /** Resident memory, in MiB. */
  rss: number;
  /** Memory of JavaScript objects, inside and outside the heap, in MiB, with garbage that is not collected yet. */
  heap: number;
  /** Size of the main thread's heap, used or not, in MiB. */
  heapTotal: number;
  /** Open file descriptors; 0 if the system does not list them. */
  descriptors: number;
  /** Delay of the event loop since the last measurement, 99.9th percentile, in ms. */
  loopDelay: number;
};

/** Calls back with the vitals every `everyMs`, without keeping the process alive. */
export function watchVitals(everyMs: number, onVitals: (vitals: Vitals) => void): void {
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  setInterval(() => {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    onVitals({
      rss: rss / 2 ** 20,
      heap: (heapUsed + external) / 2 ** 20,
      heapTotal: heapTotal / 2 ** 20,
      descriptors: openDescriptors(),
      loopDelay: loop.percentile(99.9) / 1e6,
    });
    loop.reset();
  }, everyMs).unref();
}

function openDescriptors(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}

/** The slope of values by least squares: their growth from one to the next. */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [rise, run] = [0, 0];
  for (const [place, value] of values.entries()) {
    rise += (place - middle) * (value - mean);
    run += (place - middle) ** 2;
  }
  return run === 0 ? 0 : rise / run;
}
