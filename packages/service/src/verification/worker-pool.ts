import type { Bundle, BundleBlock, BundleSource, BundleType } from "@attestd/proof/bundle";
import type { VerifyReport } from "@attestd/proof/report";
import type { KeyHistory } from "@attestd/proof/trust";
import type { ChainName } from "../chains/chain.ts";
import { type MessageRead, type ReadMessage, readSmallMessage } from "../endpoints/messages.ts";
import { Problem } from "../problems.ts";
import { createThreads } from "../workers/pool.ts";

/** What offline verification comes to, or why the bundle is no JSON. */
export type Examined = { report: VerifyReport; claims?: Claims } | { notJson: string };

/** What a bundle says that its chains can be asked about; without its proof, which may be large. */
export type Claims = {
  chain: ChainName;
  source?: BundleSource;
  block?: BundleBlock;
  attest: Bundle["attest"];
  attestor: Bundle["attestor"];
};

/** What its threads do. */
export type ExaminerJob = "examine" | "readMessage";

/** Verifies bundles, and reads large messages, on other threads: either takes as long as several paid requests. */
export interface Examiner {
  /**
   * @param body the bundle's JSON, UTF-8
   * @param type the only type of bundle that is taken
   * @param options.asksChain whether the chains are asked next: then `claims` are given where they may be
   * @throws Problem `over_capacity` while too much is waiting already
   */
  examine(body: Uint8Array, type: BundleType, options?: { asksChain: boolean }): Promise<Examined>;
  /** Reads a message of an agent: here where it is small. */
  readMessage: ReadMessage;
  close(): Promise<void>;
}

/** A signature is verified in a fraction of a millisecond, in which the next bundle should already be there. */
const JOBS_A_THREAD = 16;
/** What bundles and messages that wait for a thread may take, in bytes: some thousands of the usual size. */
const MOST_WAITING = 2 ** 26;

/**
 * @param most threads
 * @param history the keys that are trusted, as far as they are known now; the same object until it changes
 */
export function createExaminer(most: number, history: () => KeyHistory): Examiner {
  const threads = createThreads(new URL("./worker.ts", import.meta.url), {
    most,
    each: JOBS_A_THREAD,
    background: true,
  });
  let shared: KeyHistory | undefined;
  let waiting = 0;

  async function run(name: ExaminerJob, body: Uint8Array, how: unknown): Promise<unknown> {
    if (waiting + body.length > MOST_WAITING)
      throw new Problem("over_capacity", "Too many bundles are waiting to be verified.", { retryAfter: 1 });
    // A copy, to hand over: of a buffer that others share, a message would carry the whole.
    const bytes = new Uint8Array(body);
    const size = bytes.length;
    waiting += size;
    try {
      return await threads.run(name, [bytes, how], [bytes.buffer]);
    } finally {
      waiting -= size;
    }
  }

  return {
    async examine(body, type, { asksChain } = { asksChain: false }) {
      const known = history();
      if (known !== shared) threads.share(known);
      shared = known;
      return (await run("examine", body, { type, asksChain })) as Examined;
    },
    async readMessage(body, form) {
      return readSmallMessage(body, form) ?? ((await run("readMessage", body, form)) as MessageRead);
    },
    close: () => threads.close(),
  };
}
