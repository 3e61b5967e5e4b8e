import { Worker } from "node:worker_threads";
import { DecodeError } from "@attestd/proof/encoding";

/** One function to be run on a thread. */
export type Job = { id: number; name: string; args: readonly unknown[] };
/** What is handed over with a job or an outcome, and not copied. */
export type Handed = readonly ArrayBuffer[];
/** What it gave, or why it did not. */
export type Outcome = { id: number } & ({ value: unknown } | { error: string; malformed: boolean });
/** What a thread is told: work, and what all work on it goes by from now on. */
export type Telling = { jobs: readonly Job[] } | { premises: unknown };

export type ThreadsOptions = {
  /** How many threads there may be. */
  most: number;
  /**
   * How many jobs a thread may have: more than one keep it busy while its answers are on their way, which pays for jobs
   * that are shorter than the way.
   */
  each?: number;
  /** Whether the work waits for others: they get what processor time the process leaves, where the system can do that. */
  background?: boolean;
};

/** What a thread is started with. */
export type ThreadData = { background: boolean };

/** Threads that run functions of plain data. */
export interface Threads {
  /**
   * @param handed of the arguments, what is handed over: nobody may use it here any more
   * @returns what the function gives
   * @throws DecodeError what the function threw as such; Error anything else, and when the threads are closed
   */
  run(name: string, args: readonly unknown[], handed?: Handed): Promise<unknown>;
  /** Tells every thread, now and later, what its functions go by; jobs that are given afterwards see it. */
  share(premises: unknown): void;
  /** Ends the threads; what they have under way is rejected. */
  close(): Promise<void>;
}

type Pending = Job & { handed: Handed; resolve: (value: unknown) => void; reject: (error: Error) => void };
type Thread = { worker: Worker; pending: Map<number, Pending> };

/**
 * Each thread is started when there is work for which no other is free, and keeps no process alive. What comes within
 * one turn of the event loop goes to a thread in one message.
 *
 * @param file the module that `answerJobs` is called in
 */
export function createThreads(file: URL, { most, each = 1, background = false }: ThreadsOptions): Threads {
  const threads = new Set<Thread>();
  let waiting: Pending[] = [];
  let shared: unknown;
  let isDue = false;
  let closed = false;
  let lastId = 0;

  function start(): Thread {
    const worker = new Worker(file, { workerData: { background } satisfies ThreadData });
    worker.unref();
    const thread: Thread = { worker, pending: new Map() };
    threads.add(thread);
    worker.on("message", (outcomes: Outcome[]) => {
      for (const outcome of outcomes) {
        const job = thread.pending.get(outcome.id);
        thread.pending.delete(outcome.id);
        if (job) settle(job, outcome);
      }
      handOut();
    });
    let failure = new Error("a thread has ended");
    worker.on("error", (error: Error) => {
      failure = error;
    });
    worker.on("exit", () => {
      threads.delete(thread);
      for (const { reject } of thread.pending.values()) reject(failure);
      if (!closed) handOut();
    });
    if (shared !== undefined) worker.postMessage({ premises: shared } satisfies Telling);
    return thread;
  }

  /** The thread that is to have the next job; undefined while each has enough. */
  function next(): Thread | undefined {
    let free: Thread | undefined;
    for (const thread of threads) if (!free || thread.pending.size < free.pending.size) free = thread;
    if ((!free || free.pending.size > 0) && threads.size < most) return start();
    return free && free.pending.size < each ? free : undefined;
  }

  function handOut(): void {
    isDue = false;
    const given = new Map<Thread, { jobs: Job[]; handed: ArrayBuffer[] }>();
    let taken = 0;
    for (const pending of waiting) {
      const thread = next();
      if (!thread) break;
      taken++;
      thread.pending.set(pending.id, pending);
      const { id, name, args, handed } = pending;
      const parcel = given.get(thread) ?? { jobs: [], handed: [] };
      parcel.jobs.push({ id, name, args });
      parcel.handed.push(...handed);
      given.set(thread, parcel);
    }
    waiting = waiting.slice(taken);
    for (const [{ worker }, { jobs, handed }] of given) worker.postMessage({ jobs } satisfies Telling, handed);
  }

  return {
    run(name, args, handed = []) {
      if (closed) return Promise.reject(new Error("the threads were ended"));
      return new Promise((resolve, reject) => {
        waiting.push({ id: ++lastId, name, args, handed, resolve, reject });
        if (!isDue) setImmediate(handOut);
        isDue = true;
      });
    },
    share(premises) {
      shared = premises;
      for (const { worker } of threads) worker.postMessage({ premises } satisfies Telling);
    },
    async close() {
      closed = true;
      const ended = new Error("the threads were ended");
      for (const { reject } of waiting.splice(0)) reject(ended);
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

function settle({ resolve, reject }: Pending, outcome: Outcome): void {
  if ("value" in outcome) resolve(outcome.value);
  else reject(outcome.malformed ? new DecodeError(outcome.error) : new Error(outcome.error));
}
