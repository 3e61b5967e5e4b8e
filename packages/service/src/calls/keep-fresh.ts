import { setInterval } from "node:timers/promises";
import type { Logger } from "pino";
import { deadline, systemClock } from "../clock.ts";

/** What is looked at again and again while a service runs. */
export type Refreshed = { refresh(signal: AbortSignal): Promise<void> };

/** Time-out of one refresh of all parts, in ms. */
const DEADLINE_MS = 20_000;

/** Refreshes the parts, in their order, until `stop`; a failure is logged and leaves the last result. */
export async function keepFresh(
  parts: readonly Refreshed[],
  everyMs: number,
  stop: AbortSignal,
  log: Pick<Logger, "warn">,
): Promise<void> {
  try {
    for await (const _ of setInterval(everyMs, undefined, { signal: stop, ref: false })) {
      const ends = deadline(systemClock, DEADLINE_MS, stop);
      for (const part of parts) await part.refresh(ends).catch((err: unknown) => log.warn({ err }, "refresh failed"));
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}
