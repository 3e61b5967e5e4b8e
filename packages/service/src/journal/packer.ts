import { createDictionaries, type Dictionary, type Parts, pack } from "./packing.ts";

/** Calls that a step packs, so that a commit waits for it no longer than for a few of its own kind. */
const CALLS_PER_STEP = 8;
/** Pause before each step, in ms. */
const PAUSE_MS = 5;

/** A call at rest whose row is as it was written. */
export type Unpacked = Parts & { key: string; rail: string; state: string };

/** What becomes of its row; without `packed` it stays as it is. */
export type PackedRow = { key: string; packed: Uint8Array | undefined; dictionary: Dictionary | undefined };

/** How a packer reaches its journal. */
export type PackerPort = {
  dictionaries(): Dictionary[] | Promise<Dictionary[]>;
  /** The oldest calls to pack. */
  take(limit: number): Unpacked[] | Promise<Unpacked[]>;
  /** MUST be atomic, and leave a row alone that has been packed meanwhile. It need not be durable: what is lost is done again. */
  commit(rows: readonly PackedRow[], fresh: readonly Dictionary[]): void | Promise<void>;
};

/**
 * Packs calls at rest, in small steps between the commits of others.
 *
 * @param failed gets why a step packed nothing; the rows stay as they were written, which costs space and nothing else
 * @returns `start` begins where there may be calls to pack; `stop` ends it: nothing is committed afterwards
 */
export function createPacker(port: PackerPort, failed: (error: Error) => void) {
  let dictionaries: ReturnType<typeof createDictionaries> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopped = false;

  /** @returns whether there may be more */
  async function step(): Promise<boolean> {
    dictionaries ??= createDictionaries(await port.dictionaries());
    const rows = await port.take(CALLS_PER_STEP);
    const fresh: Dictionary[] = [];
    const done: PackedRow[] = [];
    for (const { key, rail, state, payer, subject_hash, request, evidence, progress, bundle, attempts } of rows) {
      const parts = { payer, subject_hash, request, evidence, progress, bundle, attempts };
      const { dictionary, isNew } = dictionaries.for({ rail, state, ...parts });
      if (dictionary && isNew) fresh.push(dictionary);
      done.push({ key, packed: await pack(parts, dictionary), dictionary });
    }
    if (!isStopped && done.length > 0) await port.commit(done, fresh);
    return rows.length === CALLS_PER_STEP;
  }

  async function run(): Promise<void> {
    isAskedAgain = false;
    try {
      const hasMore = await step();
      isAskedAgain ||= hasMore;
    } catch (error) {
      // As of a full disk: the next commit of a call begins again. What was not committed is not known.
      dictionaries = undefined;
      if (!isStopped) failed(error as Error);
    }
    running = undefined;
    if (isAskedAgain) start();
  }

  function start(): void {
    if (isStopped) return;
    isAskedAgain = true;
    if (running || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = run();
    }, PAUSE_MS);
  }

  return {
    start,
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
