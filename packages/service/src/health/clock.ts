import type { ClockComparison, HostClock } from "../providers/host-clock.ts";
import { degradedIf, type Status, unavailableIf } from "./health.ts";

/**
 * Watches whether this host's clock is right. Sales stop while it is not: payments would count as expired, or not yet valid,
 * that are good, and no facilitator would take our tokens.
 */
export function watchClock(hostClock: Pick<HostClock, "compare">) {
  let found = hostClock.compare();
  return {
    /** Compares the clocks again. */
    async refresh(): Promise<void> {
      found = hostClock.compare();
    },

    status(): Status {
      const { verdict, ...facts } = found;
      if (verdict === "wrong")
        return unavailableIf("clock_wrong", `clock_wrong: ${clockClause(found)}. Set it by NTP.`, facts);
      return degradedIf(verdict === "doubtful" ? `the clock may be wrong: ${clockClause(found)}` : undefined);
    },
  };
}

/** Says by how much this host's clock is wrong: a clause without the names of upstreams. */
function clockClause({ aheadMs, by, of }: ClockComparison): string {
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(0);
  return `this host's clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} ${by.length} of ${of} others`;
}
