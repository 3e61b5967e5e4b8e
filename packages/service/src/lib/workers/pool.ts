import { Worker } from "node:worker_threads";
import { ProofError } from "@attestd/proof/errors";

/*
 * Uses no library: piscina 5.3.2 and tinypool 2.2.0 post every job alone and give running workers no shared value. A
 * job took 58–82 and 39–45 µs of the event loop with them, and 26–33 µs with this pool (64 verifications at a time, two
 * workers).
 */

/** A call of a named function. Arguments and results are cloned (structured clone). */
export type Job = { id: number; name: string; args: readonly unknown[] };
/** Buffers that are transferred with a job or a result instead of cloned. */
export type Transfer = readonly ArrayBuffer[];
export type JobResult = { id: number } & ({ value: unknown } | { error: string; malformed: boolean });
/** To a worker: jobs, or the value that all later jobs share. */
export type WorkerMessage = { jobs: readonly Job[] } | { shared: unknown };

export type WorkerPoolOptions = {
  maxWorkers: number;
  /** The limit of jobs that a worker has at a time: more than one keep it busy while messages are in transit. */
  maxJobsPerWorker?: number;
  /** Whether the workers run at a lower priority than the process, where the system supports it. */
  background?: boolean;
};

export type WorkerData = { background: boolean };

export type WorkerPool = ReturnType<typeof createWorkerPool>;

/** A pool's load: its jobs, including waiting ones, and the threads that it has started. */
export type PoolLoad = { jobs(): number; threads(): number };

type Pending = Job & { transfer: Transfer } & Omit<PromiseWithResolvers<unknown>, "promise">;
type PooledWorker = { worker: Worker; pending: Map<number, Pending> };

/**
 * Makes a pool. It starts a worker when no other is free for a job; workers do not keep the process alive. The jobs of
 * one turn of the event loop go to a worker in one message.
 * @param file the module that calls `answerJobs`
 */
export function createWorkerPool(file: URL, options: WorkerPoolOptions) {
  const { maxWorkers, maxJobsPerWorker = 1, background = false } = options;
  const workers = new Set<PooledWorker>();
  let waiting: Pending[] = [];
  let shared: unknown;
  let isDue = false;
  let closed = false;
  let lastId = 0;

  function start(): PooledWorker {
    const worker = new Worker(file, { workerData: { background } satisfies WorkerData });
    worker.unref();
    const pooled: PooledWorker = { worker, pending: new Map() };
    workers.add(pooled);
    worker.on("message", (results: JobResult[]) => {
      for (const result of results) {
        const job = pooled.pending.get(result.id);
        pooled.pending.delete(result.id);
        if (job) settle(job, result);
      }
      dispatch();
    });
    let failure = new Error("a worker has ended");
    worker.on("error", (error: Error) => {
      failure = error;
    });
    worker.on("exit", () => {
      workers.delete(pooled);
      for (const { reject } of pooled.pending.values()) reject(failure);
      if (!closed) dispatch();
    });
    if (shared !== undefined) worker.postMessage({ shared } satisfies WorkerMessage);
    return pooled;
  }

  /** Returns the worker for the next job; undefined while all are busy. */
  function next(): PooledWorker | undefined {
    let free: PooledWorker | undefined;
    for (const pooled of workers) if (!free || pooled.pending.size < free.pending.size) free = pooled;
    if ((!free || free.pending.size > 0) && workers.size < maxWorkers) return start();
    return free && free.pending.size < maxJobsPerWorker ? free : undefined;
  }

  function dispatch(): void {
    isDue = false;
    const batches = new Map<PooledWorker, { jobs: Job[]; transfer: ArrayBuffer[] }>();
    let taken = 0;
    for (const pending of waiting) {
      const pooled = next();
      if (!pooled) break;
      taken++;
      pooled.pending.set(pending.id, pending);
      const { id, name, args, transfer } = pending;
      const batch = batches.getOrInsertComputed(pooled, () => ({ jobs: [], transfer: [] }));
      batch.jobs.push({ id, name, args });
      batch.transfer.push(...transfer);
    }
    waiting = waiting.slice(taken);
    for (const [{ worker }, { jobs, transfer }] of batches)
      worker.postMessage({ jobs } satisfies WorkerMessage, transfer);
  }

  return {
    /** Counts the jobs that workers have, or that wait for one. */
    jobs: () => [...workers].reduce((sum, { pending }) => sum + pending.size, waiting.length),
    /** Counts the running workers. */
    threads: () => workers.size,
    /**
     * Runs a function and returns its result.
     *
     * @param transfer buffers of the arguments; the caller MUST NOT use them any more
     * @throws ProofError `malformed` when the function threw one; Error for any other error, and when the pool is closed
     */
    run(name: string, args: readonly unknown[], transfer: Transfer = []): Promise<unknown> {
      if (closed) return Promise.reject(new Error("the workers were ended"));
      return new Promise((resolve, reject) => {
        waiting.push({ id: ++lastId, name, args, transfer, resolve, reject });
        if (!isDue) setImmediate(dispatch);
        isDue = true;
      });
    },
    /** Sends a value to every worker, including those started later, before the jobs that are run afterwards. */
    share(value: unknown): void {
      shared = value;
      for (const { worker } of workers) worker.postMessage({ shared } satisfies WorkerMessage);
    },
    /** Ends the workers and rejects their jobs. */
    async close(): Promise<void> {
      closed = true;
      const ended = new Error("the workers were ended");
      for (const { reject } of waiting.splice(0)) reject(ended);
      await Promise.all([...workers].map(({ worker }) => worker.terminate()));
    },
  };
}

function settle({ resolve, reject }: Pending, result: JobResult): void {
  if ("value" in result) resolve(result.value);
  else reject(result.malformed ? new ProofError("malformed", result.error) : new Error(result.error));
}
