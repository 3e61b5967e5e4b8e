import { createThreads, type ThreadsOptions } from "../workers/pool.ts";
import { type BlockWork, blockWork } from "./block-work.ts";

/** Threads on which blocks are worked through. */
export interface BlockWorkers {
  readonly work: BlockWork;
  /** Ends the threads; what they have under way is rejected. */
  close(): Promise<void>;
}

export function createBlockWorkers(options: Pick<ThreadsOptions, "most" | "background">): BlockWorkers {
  const threads = createThreads(new URL("./block-worker.ts", import.meta.url), options);
  return { work: blockWork(threads.run), close: threads.close };
}
