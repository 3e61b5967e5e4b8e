import { createBlockWorkers } from "../../chains/block-work.ts";
import type { PoolLoad } from "../../workers/pool.ts";
import type * as Work from "./work.ts";

/** The functions of work.ts, wherever they run. */
export type EvidenceWork = {
  [K in keyof typeof Work]: (...args: Parameters<(typeof Work)[K]>) => Promise<Awaited<ReturnType<(typeof Work)[K]>>>;
};

/** So many bytes of a block and of bundles are worked on in less time than it takes to send them to another thread. */
const MAX_BYTES_HERE = 64 * 1024;

/**
 * Runs the work on one thread of its own, of a lower priority than the service's others, which is started when it is first
 * needed. Small blocks are taken apart where they are: no Falcon signature is verified for them.
 */
export function openEvidenceWork(): EvidenceWork & { load: PoolLoad; close(): Promise<void> } {
  const workers = createBlockWorkers({ maxWorkers: 1, background: true });
  const run = workers.run(new URL("./work.ts", import.meta.url));
  return {
    async include(...args) {
      const [block, , delivered] = args;
      const size = delivered.reduce((sum, { bundle }) => sum + bundle.length, block.length);
      if (size > MAX_BYTES_HERE) return (await run("include", args)) as Awaited<ReturnType<typeof Work.include>>;
      return (await import("./work.ts")).include(...args);
    },
    async includeSources(...args) {
      const [block] = args;
      if (block.length > MAX_BYTES_HERE)
        return (await run("includeSources", args)) as ReturnType<typeof Work.includeSources>;
      return (await import("./work.ts")).includeSources(...args);
    },
    judge: async (...args) => (await run("judge", args)) as ReturnType<typeof Work.judge>,
    load: workers.load,
    close: workers.close,
  };
}
