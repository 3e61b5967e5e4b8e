import { createWorkerPool, type WorkerPoolOptions } from "../workers/pool.ts";
import type { RunWork } from "./block-work.ts";
import type { ChainName } from "./chain.ts";

/** A worker pool for the block work of every chain. */
export interface BlockWorkers {
  run(chain: ChainName): RunWork;
  /** Ends the workers; their jobs are rejected. */
  close(): Promise<void>;
}

export function createBlockWorkers(options: Pick<WorkerPoolOptions, "maxWorkers" | "background">): BlockWorkers {
  const pool = createWorkerPool(new URL("./block-worker.ts", import.meta.url), options);
  return { run: (chain) => (name, args) => pool.run(chain, [name, args]), close: pool.close };
}
