import { type Clock, race } from "../lib/clock.ts";
import { hasCode } from "../lib/errors.ts";
import { count } from "../observe/metrics/meter.ts";
import { degradedIf, type Status, unavailableIf } from "./health.ts";

/** A payment key that no call has: every real one names a network. */
const NO_KEY = "none";
/** How long a read may take, in ms. */
const LATE_MS = 5_000;
const AWAY = "The journal does not answer.";
const BEHIND = "journal_behind: The journal lacks commits that it had confirmed. Its calls are being taken up again.";
const REPLACED =
  "journal_behind: Another process has written or replaced the journal's file. Stop the service, put the right file in its place without -wal and -shm beside it, run attestd restore --in-place, and start the service.";

/** A journal that finds a call by its payment's key, and can be taken as it is where it lacks commits. */
type Watched = { find(paymentKey: string): Promise<unknown>; markCopied(): Promise<void> };
/** What carries the calls: it may find by their rows that the journal is behind, and ends its work before that is taken. */
type Carrier = { hasFoundLoss(): boolean; restart(take: () => Promise<void>): Promise<void> };

/**
 * Watches whether the journal answers, and whether it still has what it confirmed. Sales stop while it does not: what the payer
 * pays could not be committed, and the payer would get an error of which nothing can be learnt.
 *
 * A journal that is behind is taken as it is, as a copy, once no call is carried here any more. Then sales go on: a call that it
 * still has is searched for on the ledger before it is attested for; a payment whose call it lost is not taken again, and the
 * audit lists it.
 */
export function watchJournal(journal: Watched, carrier: Carrier, clock: Clock) {
  let fault: unknown;
  let refusal: string | undefined;
  /** Whether it is behind, and not taken as it is yet. */
  let isBehind = false;
  /** When it was last found behind: RFC 3339. */
  let lostAt: string | undefined;

  /** Reads the journal once. @returns why that failed */
  function read(signal: AbortSignal): Promise<unknown> {
    const late = async (ends: AbortSignal) => {
      await clock.sleep(LATE_MS, ends);
      throw new Error(`no answer within ${LATE_MS / 1000} s`);
    };
    return race<unknown>(signal, () => journal.find(NO_KEY), late).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  /** Takes a journal that is behind as it is; where that fails, it is tried again at the next look. */
  async function take(): Promise<void> {
    if (!isBehind) count("journalLosses", {});
    isBehind = true;
    refusal = BEHIND;
    lostAt = new Date(clock.now()).toISOString();
    try {
      await carrier.restart(() => journal.markCopied());
      isBehind = false;
    } catch (error) {
      fault = error;
      if (hasCode(error, "journal_behind")) refusal = REPLACED;
    }
  }

  return {
    /** Looks at the journal once. Never rejects. */
    async refresh(signal: AbortSignal): Promise<void> {
      const found = await read(signal);
      // A service that stops learns nothing from a read that it broke off.
      if (signal.aborted) return;
      fault = found;
      if (isBehind || carrier.hasFoundLoss() || hasCode(fault, "journal_behind")) return take();
      refusal = fault ? AWAY : undefined;
    },

    status(): Status {
      const reason = refusal ?? (carrier.hasFoundLoss() ? BEHIND : undefined);
      if (reason !== undefined) return unavailableIf("journal_unavailable", reason, { err: fault });
      return degradedIf(
        lostAt &&
          `journal_behind: the journal lost commits before ${lostAt}, and attestd audit lists the payments whose calls it lost`,
      );
    },
  };
}
