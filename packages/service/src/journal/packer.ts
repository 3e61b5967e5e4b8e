import { createDictionaries, type Dictionary, type Parts, pack } from "./packing.ts";
import { type PartedRow, prunedParts } from "./record.ts";

/** What has become of the row of a call at rest. */
export const REST = { asWritten: 0, packed: 1, pruned: 2 } as const;
/** How far a row is taken. */
export type Rest = typeof REST.packed | typeof REST.pruned;

/** Calls that a step packs, so that a commit waits for it no longer than for a few of its own kind. */
const CALLS_PER_STEP = 8;
/** Pause before each step, in ms. */
const PAUSE_MS = 5;
/** When a step that failed is tried again, in ms, if no commit of a call has begun it sooner. */
const RETRY_MS = 60_000;

/** What becomes of a row. */
export type PackedRow = { key: string; packed: Uint8Array; dictionary: Dictionary | undefined };

/** How a packer or a pruner reaches its journal. */
export type PackingPort = {
  dictionaries(): Dictionary[] | Promise<Dictionary[]>;
  /** MUST be atomic, and leave a row alone that has come as far meanwhile. */
  commit(rows: readonly PackedRow[], fresh: readonly Dictionary[]): unknown;
};
/** What is committed need not be durable: what is lost is done again. */
export type PackerPort = PackingPort & {
  /** The oldest calls at rest whose rows are as they were written. */
  take(limit: number): PartedRow[] | Promise<PartedRow[]>;
};
export type PrunerPort = PackingPort & {
  /** The oldest calls at rest that are not pruned, of those that began before a time. */
  take(before: number, limit: number): Promise<PartedRow[]>;
};

/**
 * @returns packs rows and commits them, with the parts that `partsOf` makes of each; one call after the other, because a
 *   dictionary that one call learns must be committed before another uses it
 */
function createPacking(port: PackingPort, partsOf: (row: PartedRow) => Parts) {
  let dictionaries: ReturnType<typeof createDictionaries> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (rows: readonly PartedRow[]): Promise<void> => {
    const packed = last.then(() => packRows(rows));
    last = packed.catch(() => undefined);
    return packed;
  };

  async function packRows(rows: readonly PartedRow[]): Promise<void> {
    if (rows.length === 0) return;
    try {
      dictionaries ??= createDictionaries(await port.dictionaries());
      const fresh: Dictionary[] = [];
      const done: PackedRow[] = [];
      for (const row of rows) {
        const { key, rail, state } = row;
        const parts = partsOf(row);
        const { dictionary, isNew } = dictionaries.for({ rail, state, ...parts });
        if (dictionary && isNew) fresh.push(dictionary);
        done.push({ key, packed: await pack(parts, dictionary), dictionary });
      }
      await port.commit(done, fresh);
    } catch (error) {
      // What was not committed is not known.
      dictionaries = undefined;
      throw error;
    }
  }
}

/**
 * Packs calls at rest, in small steps between the commits of others.
 *
 * @param failed gets why a step packed nothing, as of a full disk; the rows stay as they were written, which costs space and
 *   nothing else, and are tried again
 * @returns `start` begins where there may be calls to pack; `stop` ends it: nothing is committed afterwards
 */
export function createPacker(port: PackerPort, failed: (error: Error) => void) {
  const commit: PackerPort["commit"] = (...packed) => (isStopped ? undefined : port.commit(...packed));
  const packRows = createPacking({ ...port, commit }, wholeParts);
  let timer: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopped = false;

  async function run(): Promise<void> {
    isAskedAgain = false;
    clearTimeout(retry);
    try {
      const rows = await port.take(CALLS_PER_STEP);
      await packRows(rows);
      isAskedAgain ||= rows.length === CALLS_PER_STEP;
    } catch (error) {
      if (isStopped) return;
      failed(error as Error);
      retry = setTimeout(start, RETRY_MS);
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
      clearTimeout(retry);
      await running;
    },
  };
}

/** @returns prunes up to `limit` of the calls that began before a time, the oldest first, and returns how many it has pruned */
export function createPruner(port: PrunerPort): (before: number, limit: number) => Promise<number> {
  const packRows = createPacking(port, prunedParts);
  return async (before, limit) => {
    const rows = await port.take(before, limit);
    await packRows(rows);
    return rows.length;
  };
}

function wholeParts({ payer, subject_hash, request, progress, bundle, attempts }: PartedRow): Parts {
  return { payer, subject_hash, request, progress, bundle, attempts };
}
