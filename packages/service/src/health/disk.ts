import { type Status, unavailableIf } from "./health.ts";

/**
 * Watches the free bytes of the journal. Sales stop while there are still enough to complete every paid call: a commit
 * that fails on a full disk would leave a payment without its bundle.
 *
 * @param journal undefined bytes: they cannot be known, and hold nothing up
 * @param minBytes that must be free; 0 for no bound
 */
export function watchDisk(journal: { freeBytes(): Promise<bigint | undefined> }, minBytes: bigint) {
  let free: bigint | undefined;
  return {
    async refresh(): Promise<void> {
      free = await journal.freeBytes();
    },

    status(): Status {
      const isLow = free !== undefined && free < minBytes;
      const reason = isLow
        ? `disk_low: ${inMib(free ?? 0n)} MiB are free for the journal, of ${inMib(minBytes)}.`
        : undefined;
      return unavailableIf("disk_low", reason);
    },
  };
}

function inMib(bytes: bigint): bigint {
  return bytes / 2n ** 20n;
}
