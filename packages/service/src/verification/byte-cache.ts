/** What was kept last, within a bound of bytes and for a while. */
export interface ByteCache<T> {
  get(key: string): T | undefined;
  /** @param bytes that the value takes; one that takes more than all may is not kept */
  set(key: string, value: T, bytes: number): void;
}

/** What an entry takes beside its value and key. */
const ENTRY_BYTES = 200;

/** @param options.lifeMs how long a value is kept */
export function createByteCache<T>({
  most,
  lifeMs,
  now,
}: {
  most: number;
  lifeMs: number;
  now: () => number;
}): ByteCache<T> {
  /** Oldest first. */
  const entries = new Map<string, { value: T; size: number; until: number }>();
  let taken = 0;

  function drop(key: string): void {
    taken -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry && entry.until <= now()) drop(key);
      return entries.get(key)?.value;
    },
    set(key, value, bytes) {
      drop(key);
      const size = ENTRY_BYTES + 2 * key.length + bytes;
      if (size > most) return;
      entries.set(key, { value, size, until: now() + lifeMs });
      taken += size;
      for (const oldest of entries.keys()) {
        if (taken <= most) return;
        drop(oldest);
      }
    },
  };
}
