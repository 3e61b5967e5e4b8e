import type { Logger } from "pino";
import type { ClockComparison, HostClock } from "../providers/host-clock.ts";

/**
 * Watches whether this host's clock is right. Sales stop while it is not: payments would count as expired, or not yet valid,
 * that are good, and no facilitator would take our tokens.
 */
export function createClockWatch({
  hostClock,
  log,
}: {
  hostClock: Pick<HostClock, "compare">;
  log: Pick<Logger, "error" | "info">;
}) {
  let found: ClockComparison = hostClock.compare();
  return {
    /** Compares the clocks again. */
    async refresh(): Promise<void> {
      const before = found.verdict;
      found = hostClock.compare();
      const { verdict, ...facts } = found;
      if (verdict === "wrong" && before !== "wrong") log.error(facts, "clock_wrong");
      if (verdict !== "wrong" && before === "wrong") log.info(facts, "the clock is right again");
    },
    /** Why nothing may be sold now, as a sentence. */
    obstacle: () => (found.verdict === "wrong" ? `clock_wrong: ${clockClause(found)}. Set it by NTP.` : undefined),
    /** What may be wrong: a sentence without its period. */
    doubt: () => (found.verdict === "doubtful" ? `the clock may be wrong: ${clockClause(found)}` : undefined),
  };
}

/** Who says by how much this host's clock is wrong: a clause without the names of upstreams. */
function clockClause({ aheadMs, by, of }: ClockComparison): string {
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(0);
  return `this host's clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} ${by.length} of ${of} others`;
}
