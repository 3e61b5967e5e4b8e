import { Worker } from "node:worker_threads";
import { DecodeError } from "@attestd/proof/encoding";
import { type BlockWork, type BlockWorkName, blockWork } from "./block-work.ts";
import type { Job, Outcome } from "./block-worker.ts";

type Pending = Job & { resolve: (value: unknown) => void; reject: (error: Error) => void };

/** Threads on which blocks are worked through. */
export interface BlockWorkers {
  readonly work: BlockWork;
  /** Ends the threads; what they have under way is rejected. */
  close(): Promise<void>;
}

/**
 * Threads that run block work. Each is started when there is work for which no other is free, has one job at a time,
 * and keeps no process alive.
 *
 * @param most threads
 */
export function createBlockWorkers(most: number): BlockWorkers {
  const waiting: Pending[] = [];
  const idle: Worker[] = [];
  const busy = new Map<Worker, Pending>();
  let closed = false;

  function start(): Worker {
    const worker = new Worker(new URL("./block-worker.ts", import.meta.url));
    worker.unref();
    worker.on("message", (outcome: Outcome) => {
      const job = busy.get(worker);
      busy.delete(worker);
      idle.push(worker);
      if (job) settle(job, outcome);
      next();
    });
    let failure = new Error("a thread that works through blocks has ended");
    worker.on("error", (error: Error) => {
      failure = error;
    });
    worker.on("exit", () => {
      busy.get(worker)?.reject(failure);
      busy.delete(worker);
      const place = idle.indexOf(worker);
      if (place >= 0) idle.splice(place, 1);
      if (!closed) next();
    });
    return worker;
  }

  function next(): void {
    while (waiting.length > 0) {
      const worker = idle.pop() ?? (busy.size < most ? start() : undefined);
      const job = worker && waiting.shift();
      if (!job) return;
      busy.set(worker, job);
      worker.postMessage({ name: job.name, args: job.args } satisfies Job);
    }
  }

  function run(name: BlockWorkName, args: readonly unknown[]): Promise<unknown> {
    if (closed) return Promise.reject(new Error("the threads that work through blocks were ended"));
    return new Promise((resolve, reject) => {
      waiting.push({ name, args, resolve, reject });
      next();
    });
  }

  return {
    work: blockWork(run),
    async close() {
      closed = true;
      const ended = new Error("the threads that work through blocks were ended");
      for (const { reject } of waiting.splice(0)) reject(ended);
      await Promise.all([...idle, ...busy.keys()].map((worker) => worker.terminate()));
    },
  };
}

function settle({ resolve, reject }: Pending, outcome: Outcome): void {
  if ("value" in outcome) resolve(outcome.value);
  else reject(outcome.malformed ? new DecodeError(outcome.error) : new Error(outcome.error));
}
