import { LRUCache } from "lru-cache";
import type { AlgorandSource } from "../chains/algorand/source.ts";
import {
  type ChainName,
  isSourceError,
  isUndecided,
  type SourceChain,
  type SourceTransaction,
} from "../chains/chain.ts";
import { type RecordedAttestation, readRecorded } from "../ledger/recorded.ts";
import { systemClock } from "../lib/clock.ts";
import { ignoring } from "../lib/errors.ts";
import type { Bulkhead } from "../lib/workers/bulkhead.ts";

export type ChainRecords = ReturnType<typeof createChainRecords>;

export type ChainRecordsOptions = {
  chains: ReadonlyMap<ChainName, SourceChain>;
  /** The ledger as a source. */
  ledger: Pick<AlgorandSource, "find">;
  /** Limits all look-ups. */
  bulkhead: Bulkhead;
  /** Time-out of one look-up once it runs, in ms. */
  deadlineMs: number;
};

/** The result of a look-up; `isFixed` when it can never change. */
type Found<T> = { value: T; bytes: number; isFixed: boolean };
type FoundTransaction = Pick<SourceTransaction, "bytes" | "block" | "succeeded">;

const CACHE_BYTES = 16 * 1024 * 1024;
/** The size that counts for a transaction's block, in bytes. */
const BLOCK_BYTES = 200;
const CACHE_LIFE_MS = 5 * 60_000;

/**
 * Looks up the transactions and blocks of bundles on their chains. Each method returns undefined for one that certainly
 * does not exist; it throws ProviderError or SourceError (`source_unreadable`) when that cannot be decided, and Problem
 * `over_capacity` when too many look-ups wait.
 *
 * Results that can never change are cached; simultaneous look-ups with one key share a request.
 */
export function createChainRecords({ chains, ledger, bulkhead, deadlineMs }: ChainRecordsOptions) {
  const kept = createByteCache<object>(CACHE_BYTES, CACHE_LIFE_MS, systemClock.now);
  const underWay = new Map<string, Promise<unknown>>();

  async function find<T extends object>(
    key: string,
    ask: (signal: AbortSignal) => Promise<Found<T> | undefined>,
  ): Promise<T | undefined> {
    const known = kept.get(key) ?? underWay.get(key);
    if (known !== undefined) return known as T;
    const asked = bulkhead
      .run(() => ask(systemClock.timeout(deadlineMs)).catch(unlessAbsent))
      .then((found) => {
        if (found?.isFixed) kept.set(key, found.value, found.bytes);
        return found?.value;
      })
      .finally(() => underWay.delete(key));
    underWay.set(key, asked);
    return asked;
  }

  function chainOf(name: ChainName): SourceChain {
    const chain = chains.get(name);
    if (!chain) throw new TypeError(`${name} is not configured`);
    return chain;
  }

  return {
    /** Whether a chain is configured. */
    knows: (chain: ChainName) => chains.has(chain),
    transaction: (name: ChainName, txnId: string) =>
      find<FoundTransaction>(`transaction ${name} ${txnId}`, async (signal) => {
        const { bytes, block, succeeded, level } = await chainOf(name).transaction(txnId, signal);
        const value = { bytes: new Uint8Array(bytes), block, ...(succeeded !== undefined && { succeeded }) };
        return { value, bytes: bytes.length + BLOCK_BYTES, isFixed: level === "finalized" };
      }),
    /** @returns the header's exact bytes */
    header: (name: ChainName, height: number) =>
      find(`header ${name} ${height}`, async (signal) => {
        const { header, level } = await chainOf(name).block(height, signal);
        return { value: new Uint8Array(header), bytes: header.length, isFixed: level === "finalized" };
      }),
    attestation: (txnId: string) =>
      find<RecordedAttestation>(`attestation ${txnId}`, async (signal) => {
        const recorded = await readRecorded(ledger, txnId, signal);
        if (!recorded) return undefined;
        const note = new Uint8Array(recorded.note);
        return { value: { ...recorded, note }, bytes: note.length + 500, isFixed: true };
      }),
  };
}

/**
 * Returns undefined for "certainly absent". @throws any other error, also for a record that exists and cannot be read
 */
const unlessAbsent = ignoring((error) => isSourceError(error) && !isUndecided(error));

/** The overhead of an entry besides its value and key, in bytes. */
const ENTRY_BYTES = 200;

/** Caches the most recently used values, each for a limited time. A value larger than the cache is not stored. */
export function createByteCache<T extends NonNullable<unknown>>(maxSize: number, ttl: number, now: () => number) {
  // `ttlResolution` 0: reads the clock at every look-up, because tests and simulations set it.
  const cache = new LRUCache<string, T>({ maxSize, ttl, ttlResolution: 0, perf: { now } });
  return {
    get: (key: string) => cache.get(key),
    set(key: string, value: T, bytes: number) {
      cache.set(key, value, { size: ENTRY_BYTES + 2 * key.length + bytes });
    },
  };
}
