import { createWorkerPool, type WorkerPoolOptions } from "../workers/pool.ts";
import { type BlockWork, blockWork } from "./block-work.ts";

/** A worker pool for the block work. */
export interface BlockWorkers {
  readonly work: BlockWork;
  /** Ends the workers; their jobs are rejected. */
  close(): Promise<void>;
}

export function createBlockWorkers(options: Pick<WorkerPoolOptions, "maxWorkers" | "background">): BlockWorkers {
  const pool = createWorkerPool(new URL("./block-worker.ts", import.meta.url), options);
  return { work: blockWork(pool.run), close: pool.close };
}
