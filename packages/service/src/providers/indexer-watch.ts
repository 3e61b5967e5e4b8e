import type { Indexer } from "./indexer.ts";
import { isProviderError } from "./provider.ts";

/** How long the indexers may be silent before it is said, in ms. */
const MAX_SILENCE_MS = 60_000;

/**
 * Watches whether any indexer answers. Without one only the transactions that algod still keeps are found: a call for an older
 * one is refused before it is charged.
 *
 * @param now Unix ms
 */
export function watchIndexers(indexers: readonly Pick<Indexer, "currentRound">[], now: () => number) {
  let answeredAt = now();
  return {
    async refresh(signal: AbortSignal): Promise<void> {
      try {
        // Its lag is judged with each look-up.
        await Promise.any(indexers.map((indexer) => indexer.currentRound(signal)));
        answeredAt = now();
      } catch (error) {
        if (!(error instanceof AggregateError) || !error.errors.every(isProviderError)) throw error;
      }
    },

    /** What cannot be sold meanwhile. */
    doubt(): string | undefined {
      if (now() - answeredAt <= MAX_SILENCE_MS) return undefined;
      const since = new Date(answeredAt).toISOString();
      return `no indexer has answered since ${since}: older Algorand transactions cannot be attested`;
    },
  };
}
