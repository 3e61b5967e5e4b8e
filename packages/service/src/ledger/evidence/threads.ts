import { type BlockWork, createBlockWorkers } from "../../chains/block-work.ts";
import type { PoolLoad } from "../../lib/workers/pool.ts";
import type { Included } from "./work.ts";

/** The functions of work.ts, wherever they run. */
export type EvidenceWork = BlockWork<typeof import("./work.ts")>;

/** So many bytes of a block and of a bundle are worked on in less time than it takes to send them to another thread. */
const MAX_BYTES_HERE = 64 * 1024;

/**
 * Runs the work on one thread of its own, of a lower priority than the service's others, which is started when it is first
 * needed. Small blocks are taken apart where they are: no Falcon signature is verified for them.
 */
export function openEvidenceWork(): EvidenceWork & { load: PoolLoad; close(): Promise<void> } {
  const workers = createBlockWorkers({ maxWorkers: 1, background: true });
  const apart = workers.run(new URL("./work.ts", import.meta.url));
  return {
    async include(...args) {
      const [block, , , canary] = args;
      const size = block.length + (canary?.length ?? 0);
      if (size > MAX_BYTES_HERE) return (await apart("include", args)) as Included;
      // Not loaded before: Falcon's tables take 15 ms of a start.
      return (await import("./work.ts")).include(...args);
    },
    judge: async (...args) => (await apart("judge", args)) as string | undefined,
    load: workers.load,
    close: workers.close,
  };
}
