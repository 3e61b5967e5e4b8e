import { createThreads } from "../threads.ts";
import { type BlockWork, blockWork } from "./block-work.ts";

/** Threads on which blocks are worked through. */
export interface BlockWorkers {
  readonly work: BlockWork;
  /** Ends the threads; what they have under way is rejected. */
  close(): Promise<void>;
}

/** @param most threads */
export function createBlockWorkers(most: number): BlockWorkers {
  const threads = createThreads(new URL("./block-thread.ts", import.meta.url), { most });
  return { work: blockWork(threads.run), close: threads.close };
}
