import type { BundleType, KeyHistory, VerifyReport } from "@attestd/proof";
import { type MessageForm, type MessageRead, readSmallMessage } from "../api/endpoints/messages.ts";
import { Problem } from "../lib/problems.ts";
import { createWorkerPool, type PoolLoad } from "../lib/workers/pool.ts";
import type { Claims } from "./claims.ts";

/** The result of offline verification, or why the body is not JSON. */
export type VerifiedOffline = { report: VerifyReport; claims?: Claims } | { notJson: string };

/** The jobs of its workers. */
export type PoolJob = "verify" | "readMessage";

export type VerificationPool = ReturnType<typeof createVerificationPool>;

/** A signature is verified in a fraction of a millisecond, after which the next bundle should be ready. */
const MAX_JOBS_PER_WORKER = 16;
/** The limit of waiting bundles and messages, in bytes: thousands of the usual size. */
const MAX_WAITING_BYTES = 2 ** 26;

/**
 * Verifies bundles and reads large messages on other threads: either takes as long as several paid requests.
 * @param history returns the trusted keys; the same object until they change
 */
export function createVerificationPool(maxWorkers: number, history: () => KeyHistory) {
  const pool = createWorkerPool(new URL("./worker.ts", import.meta.url), {
    maxWorkers,
    maxJobsPerWorker: MAX_JOBS_PER_WORKER,
    background: true,
  });
  let shared: KeyHistory | undefined;
  let waitingBytes = 0;

  async function run(name: PoolJob, body: Uint8Array, how: unknown): Promise<unknown> {
    if (waitingBytes + body.length > MAX_WAITING_BYTES)
      throw new Problem("over_capacity", "Too many bundles wait to be verified.", { retryAfter: 1 });
    // A transferable copy: Node's small buffers share one ArrayBuffer, which would be transferred as a whole.
    const bytes = new Uint8Array(body);
    const size = bytes.length;
    waitingBytes += size;
    try {
      return await pool.run(name, [bytes, how], [bytes.buffer]);
    } finally {
      waitingBytes -= size;
    }
  }

  return {
    /**
     * Verifies a bundle offline.
     * @param body the bundle's JSON, UTF-8
     * @param types the accepted types of bundle
     * @param asksChain whether the result has `claims`, so that the chains can be asked
     * @throws Problem `over_capacity` while too many bytes wait
     */
    async verify(body: Uint8Array, types: readonly BundleType[], asksChain = false): Promise<VerifiedOffline> {
      const known = history();
      if (known !== shared) pool.share(known);
      shared = known;
      return (await run("verify", body, { types, asksChain })) as VerifiedOffline;
    },
    /** Reads a small message in the calling thread, a large one on a worker. */
    async readMessage(body: Uint8Array, form: MessageForm): Promise<MessageRead> {
      return readSmallMessage(body, form) ?? ((await run("readMessage", body, form)) as MessageRead);
    },
    /** The current jobs. */
    load: pool as PoolLoad,
    close: () => pool.close(),
  };
}
