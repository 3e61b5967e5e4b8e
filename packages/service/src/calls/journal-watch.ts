import type { Logger } from "pino";
import { type Clock, race } from "../clock.ts";
import type { Journal } from "./journal.ts";

export type JournalWatchOptions = {
  journal: Pick<Journal, "find">;
  clock: Clock;
  log: Pick<Logger, "error" | "info">;
};

/** A payment key that no call has: every real one names a network. */
const NO_KEY = "none";
/** How long a read may take, in ms. */
const LATE_MS = 5_000;

/**
 * Watches whether the journal answers. Sales stop while it does not: what the payer pays could not be committed, and the
 * payer would get an error of which nothing can be learnt.
 */
export function createJournalWatch({ journal, clock, log }: JournalWatchOptions) {
  let obstacle: string | undefined;
  return {
    /** Reads the journal once. Never rejects. */
    async refresh(signal: AbortSignal): Promise<void> {
      const late = async (ends: AbortSignal) => {
        await clock.sleep(LATE_MS, ends);
        throw new Error(`no answer within ${LATE_MS / 1000} s`);
      };
      const fault = await race<unknown>(signal, () => journal.find(NO_KEY), late).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      if (signal.aborted) return;
      if (fault && obstacle === undefined) log.error({ err: fault }, "journal_unavailable");
      if (!fault && obstacle !== undefined) log.info({}, "the journal answers again");
      obstacle = fault && "The journal does not answer.";
    },
    /** Why nothing may be sold now, as a sentence. */
    obstacle: () => obstacle,
  };
}
