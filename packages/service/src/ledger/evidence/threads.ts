import { type BlockWork, blockWork, createBlockWorkers } from "../../chains/block-work.ts";
import type { PoolLoad } from "../../workers/pool.ts";
import * as work from "./work.ts";

/** The functions of work.ts, wherever they run. */
export type EvidenceWork = BlockWork<typeof work>;

/** So many bytes of a block and of a bundle are worked on in less time than it takes to send them to another thread. */
const MAX_BYTES_HERE = 64 * 1024;

/**
 * Runs the work on one thread of its own, of a lower priority than the service's others, which is started when it is first
 * needed. Small blocks are taken apart where they are: no Falcon signature is verified for them.
 */
export function openEvidenceWork(): EvidenceWork & { load: PoolLoad; close(): Promise<void> } {
  const workers = createBlockWorkers({ maxWorkers: 1, background: true });
  const apart = blockWork(work, workers.run(new URL("./work.ts", import.meta.url)));
  const here = blockWork(work);
  return {
    include(block, round, sought, canary) {
      const size = block.length + (canary?.length ?? 0);
      return (size > MAX_BYTES_HERE ? apart : here).include(block, round, sought, canary);
    },
    judge: apart.judge,
    load: workers.load,
    close: workers.close,
  };
}
