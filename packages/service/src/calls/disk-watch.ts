import type { Logger } from "pino";
import type { Journal } from "./journal.ts";

export type DiskWatchOptions = {
  journal: Pick<Journal, "freeBytes">;
  /** Bytes that must be free for the journal; 0 for no bound. */
  minBytes: bigint;
  log: Pick<Logger, "error" | "info">;
};

/**
 * Watches the free bytes of the journal. Sales stop while there are still enough to complete every paid call: a commit
 * that fails on a full disk would leave a payment without its bundle.
 */
export function createDiskWatch({ journal, minBytes, log }: DiskWatchOptions) {
  let obstacle: string | undefined;
  return {
    /** Reads the free bytes again. @throws Error when they cannot be read; the last result then stands */
    async refresh(): Promise<void> {
      const free = await journal.freeBytes();
      const isLow = free !== undefined && free < minBytes;
      if (isLow && obstacle === undefined) log.error({ free: Number(free), least: Number(minBytes) }, "disk_low");
      if (!isLow && obstacle !== undefined) log.info({ least: Number(minBytes) }, "the journal has room again");
      obstacle = isLow ? `disk_low: ${inMib(free)} MiB are free for the journal, of ${inMib(minBytes)}.` : undefined;
    },
    /** Why nothing may be sold now, as a sentence. */
    obstacle: () => obstacle,
  };
}

function inMib(bytes: bigint): bigint {
  return bytes / 2n ** 20n;
}
