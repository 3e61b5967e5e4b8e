import { createWorkerPool, type PoolLoad, type WorkerPoolOptions } from "../lib/workers/pool.ts";

/**
 * The expensive part of reading a chain's blocks, as the exports of one module. They are functions of bytes and JSON
 * only, so that they can run in any thread: blocks hold thousands of transactions, whose hashing must not block the
 * event loop. For malformed data they throw ProofError `malformed`, and nothing else.
 */
export type WorkFunctions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The same functions, called on whichever thread runs them. */
export type BlockWork<W extends WorkFunctions> = {
  readonly [K in keyof W]: (...args: Parameters<W[K]>) => Promise<Awaited<ReturnType<W[K]>>>;
};

/** Runs a function by its name. */
export type RunWork = (name: string, args: readonly unknown[]) => Promise<unknown>;

/** @param run runs each function; by default on the calling thread */
export function blockWork<W extends WorkFunctions>(
  functions: W,
  run: RunWork = async (name, args) => runWork(functions, name, args),
): BlockWork<W> {
  const entries = Object.keys(functions).map((name) => [name, (...args: unknown[]) => run(name, args)]);
  return Object.fromEntries(entries) as BlockWork<W>;
}

/** @returns the result of the function of this name, or a promise of it */
export function runWork(functions: WorkFunctions, name: string, args: readonly unknown[]): unknown {
  return (functions[name] as (...args: readonly unknown[]) => unknown)(...args);
}

export type BlockWorkers = ReturnType<typeof createBlockWorkers>;

/** Makes a worker pool for block work. A worker loads a chain's module at the first work for that chain. */
export function createBlockWorkers(options: Pick<WorkerPoolOptions, "maxWorkers" | "background">) {
  const pool = createWorkerPool(new URL("./block-worker.ts", import.meta.url), options);
  return {
    /** @param module a chain's `work` */
    run(module: URL): RunWork {
      return (name, args) => pool.run(module.href, [name, args]);
    },
    load: pool as PoolLoad,
    /** Ends the workers; their jobs are rejected. */
    close: pool.close,
  };
}
