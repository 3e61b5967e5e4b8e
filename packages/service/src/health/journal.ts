import { type Clock, race } from "../clock.ts";
import { type Status, unavailableIf } from "./health.ts";

/** A payment key that no call has: every real one names a network. */
const NO_KEY = "none";
/** How long a read may take, in ms. */
const LATE_MS = 5_000;

/**
 * Watches whether the journal answers. Sales stop while it does not: what the payer pays could not be committed, and the
 * payer would get an error of which nothing can be learnt.
 *
 * @param journal that finds a call by its payment's key
 */
export function watchJournal(journal: { find(paymentKey: string): Promise<unknown> }, clock: Clock) {
  let fault: Error | undefined;
  return {
    /** Reads the journal once. Never rejects. */
    async refresh(signal: AbortSignal): Promise<void> {
      const late = async (ends: AbortSignal) => {
        await clock.sleep(LATE_MS, ends);
        throw new Error(`no answer within ${LATE_MS / 1000} s`);
      };
      const found = await race<unknown>(signal, () => journal.find(NO_KEY), late).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      // A service that stops learns nothing from a read that it broke off.
      if (!signal.aborted) fault = found;
    },

    status: (): Status => unavailableIf("journal_unavailable", fault && "The journal does not answer.", { err: fault }),
  };
}
