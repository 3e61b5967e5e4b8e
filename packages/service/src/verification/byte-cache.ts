import { LRUCache } from "lru-cache";

/** The values used last, within a bound of bytes, each for a limited time. */
export interface ByteCache<T> {
  get(key: string): T | undefined;
  /** @param bytes that the value takes; a value that exceeds the cache's own bound is not kept */
  set(key: string, value: T, bytes: number): void;
}

export type ByteCacheOptions = { maxBytes: number; lifeMs: number; now: () => number };

/** What an entry takes beside its value and key. */
const ENTRY_BYTES = 200;

export function createByteCache<T extends NonNullable<unknown>>({
  maxBytes,
  lifeMs,
  now,
}: ByteCacheOptions): ByteCache<T> {
  // `ttlResolution` 0: read the clock at every look-up, since tests and simulations move it by hand.
  const cache = new LRUCache<string, T>({ maxSize: maxBytes, ttl: lifeMs, ttlResolution: 0, perf: { now } });
  return {
    get: (key) => cache.get(key),
    set(key, value, bytes) {
      cache.set(key, value, { size: ENTRY_BYTES + 2 * key.length + bytes });
    },
  };
}
