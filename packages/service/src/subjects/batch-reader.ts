import type { SourceChains, SourceError, SourceTransaction } from "../chains/chain.ts";
import { MAX_SOURCE_BYTES, maxSourceBytes, tooLarge } from "../chains/several.ts";
import { type Clock, endOf, race } from "../lib/clock.ts";
import { Problem } from "../lib/problems.ts";
import { createBulkhead } from "../lib/workers/bulkhead.ts";
import { chainsOf, requestHash, type SubjectOf } from "./subject.ts";
import { sourceNamed } from "./transaction-evidence.ts";

type Batch = SubjectOf<"batch">;
export type BatchClock = Pick<Clock, "now" | "sleep" | "timeout">;

/** The results for each item, in the order of the request. */
export type ReadItems = readonly (SourceTransaction | SourceError)[];

export type BatchReader = ReturnType<typeof createBatchReader>;

/** A reading of a batch. `endedAt`: Unix ms. */
type Reading = { items: Promise<ReadItems>; endedAt?: number; bytes: number; isClean?: boolean };

/**
 * How many batches are read at a time, because single calls ask the same nodes, and how many may wait. A payer may have
 * eight (`calls/unpaid-reads.ts`), a quarter of them. The token bucket is so large that it does not matter.
 */
const AT_A_TIME = { maxActive: 2, maxWaiting: 30, perSecond: 100, refusal: "Too many batches are being read." };
/**
 * How long a reading may take, in ms: enough for a thousand transactions of a node that answers ten times in a second.
 */
const MAX_READING_MS = 10 * 60_000;
/** How long a result is kept for the repeated request, in ms. */
const KEPT_MS = 60_000;
/** How long one is kept that failed or lacks an item, in ms. */
export const KEPT_REFUSED_MS = 10_000;
/** The limit of transactions that are kept, in bytes, and the overhead of each. */
const MAX_KEPT_BYTES = 4 * MAX_SOURCE_BYTES;
const BESIDE_BYTES = 1024;
/** After how many seconds a request should be repeated if its batch is still being read, or had to be refused. */
const RETRY_AFTER = 5;

/** Reads the transactions of batches. */
export function createBatchReader(chains: SourceChains, clock: BatchClock) {
  const bulkhead = createBulkhead({ ...AT_A_TIME, clock });
  /** Oldest first. */
  const readings = new Map<string, Reading>();

  async function readAll(batch: Batch): Promise<ReadItems> {
    const signal = clock.timeout(MAX_READING_MS);
    const byChain = await Promise.all(
      chainsOf(batch).map(async (name) => {
        const ids = batch.items.filter(({ chain }) => chain === name).map(({ id }) => id);
        return [name, await sourceNamed(chains, name).transactions(ids, signal)] as const;
      }),
    );
    const found = new Map(byChain);
    const items = batch.items.map(({ chain, id }) => {
      const item = found.get(chain)?.get(id);
      if (!item) throw new Error(`${chain} gave no result for ${id}`);
      return item;
    });
    const transactions = transactionsIn(items);
    const most = maxSourceBytes(batch.items.length);
    if (bytesOf(transactions) > most) throw tooLarge(transactions, most);
    return items;
  }

  function begin(hash: string, batch: Batch): Reading {
    const reading: Reading = { items: bulkhead.run(() => readAll(batch)), bytes: 0 };
    readings.set(hash, reading);
    reading.items.then(
      (items) => {
        const transactions = transactionsIn(items);
        reading.endedAt = clock.now();
        reading.bytes = bytesOf(transactions) + items.length * BESIDE_BYTES;
        reading.isClean = transactions.length === items.length;
        forget();
      },
      (error: unknown) => {
        // A refused batch was not read.
        if (error instanceof Problem) readings.delete(hash);
        // The nodes are not asked again before the request is to be repeated.
        else reading.endedAt = clock.now();
      },
    );
    return reading;
  }

  /** Drops old results, and the oldest ones beyond the limit. */
  function forget(): void {
    const now = clock.now();
    let bytes = [...readings.values()].reduce((sum, reading) => sum + reading.bytes, 0);
    for (const [hash, { endedAt, bytes: own, isClean }] of readings) {
      if (endedAt === undefined) continue;
      const isOld = now - endedAt >= (isClean ? KEPT_MS : KEPT_REFUSED_MS);
      if (!isOld && bytes <= MAX_KEPT_BYTES) continue;
      readings.delete(hash);
      bytes -= own;
    }
  }

  return {
    /**
     * Reads every transaction of a batch, or joins a reading of the same batch that is in progress or has just ended.
     * @param signal ends the wait; the reading continues
     * @throws Problem `source_reading` when the signal comes first, `over_capacity` when too many batches wait;
     *   sources_too_large; ProviderError
     */
    async read(batch: Batch, signal: AbortSignal): Promise<ReadItems> {
      forget();
      const hash = requestHash(batch);
      const { items } = readings.get(hash) ?? begin(hash, batch);
      const nothing = (ends: AbortSignal) => endOf(ends).catch(() => undefined);
      const found = await race(signal, () => items, nothing).catch((error) => {
        if (!(error instanceof Problem) || error.code !== "over_capacity") throw error;
        const detail = "Too many batches are being read. Nothing was charged.";
        throw new Problem("over_capacity", detail, { retryAfter: RETRY_AFTER });
      });
      if (found) return found;
      const detail = `The ${batch.items.length} transactions are still being read. Nothing was charged: send the same request again.`;
      throw new Problem("source_reading", detail, { retryAfter: RETRY_AFTER });
    },
  };
}

function transactionsIn(items: ReadItems): SourceTransaction[] {
  return items.filter((item) => "bytes" in item);
}

function bytesOf(transactions: readonly { bytes: Uint8Array }[]): number {
  return transactions.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
