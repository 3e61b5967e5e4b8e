import { type Status, unavailableIf } from "./health.ts";

/** How long the ledger may show no new round, in ms: some twenty of MainNet's rounds. */
const STALE_AFTER_MS = 60_000;

/**
 * Watches whether rounds of the ledger are read. Sales stop while they are not: nothing could be recorded.
 *
 * @param rounds when the latest one was read, Unix ms
 */
export function watchRounds(rounds: { latestAt(): number }, now: () => number) {
  return {
    status: (): Status =>
      unavailableIf(
        "providers_unavailable",
        now() - rounds.latestAt() > STALE_AFTER_MS ? "algorand-mainnet is not reachable." : undefined,
      ),
  };
}
