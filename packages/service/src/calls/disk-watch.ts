import type { Logger } from "pino";
import type { Journal } from "./journal.ts";

export type DiskWatchOptions = {
  journal: Pick<Journal, "freeBytes">;
  /** Bytes that must be free for the journal; 0 asks for none. */
  least: bigint;
  log: Pick<Logger, "error" | "info">;
};

/**
 * Watches the room that the journal has left. Sales stop while there is still enough to bring every call that was paid
 * for to its end: a commit that fails for want of room would leave somebody's money without its bundle.
 */
export interface DiskWatch {
  /** Looks again. @throws Error when it cannot be told, and what was seen before stands */
  refresh(): Promise<void>;
  /** Why nothing may be sold, as a sentence. */
  obstacle(): string | undefined;
}

export function createDiskWatch({ journal, least, log }: DiskWatchOptions): DiskWatch {
  let obstacle: string | undefined;
  return {
    async refresh() {
      const free = await journal.freeBytes();
      const isLow = free !== undefined && free < least;
      if (isLow && obstacle === undefined) log.error({ free: Number(free), least: Number(least) }, "disk_low");
      if (!isLow && obstacle !== undefined) log.info({ least: Number(least) }, "the journal has room again");
      obstacle = isLow ? `disk_low: ${inMib(free)} MiB are free for the journal, of ${inMib(least)}.` : undefined;
    },
    obstacle: () => obstacle,
  };
}

function inMib(bytes: bigint): bigint {
  return bytes / 2n ** 20n;
}
