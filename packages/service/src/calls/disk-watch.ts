import type { Logger } from "pino";
import type { Store } from "./journal.ts";

export type DiskWatchOptions = {
  store: Pick<Store, "freeBytes">;
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

export function createDiskWatch({ store, least, log }: DiskWatchOptions): DiskWatch {
  let obstacle: string | undefined;
  return {
    async refresh() {
      const free = await store.freeBytes();
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
