import type { Indexer } from "../providers/indexer.ts";
import { isProviderError } from "../providers/provider.ts";
import { type QuorumRules, quorumOf } from "../providers/quorum.ts";
import { degradedIf, OK, type Status } from "./health.ts";

/** How long too few indexers may answer before it is said, in ms. */
const MAX_SILENCE_MS = 60_000;

/**
 * Watches whether as many indexers answer as must agree. Otherwise only the transactions that algod still keeps are found: a call
 * for an older one is refused before it is charged.
 *
 * @param now Unix ms
 */
export function watchIndexers(
  indexers: readonly Pick<Indexer, "name" | "currentRound">[],
  rules: Pick<QuorumRules, "quorum">,
  now: () => number,
) {
  const enough = quorumOf(indexers.length, rules);
  let answeredAt = now();
  let away: string[] = [];
  return {
    async refresh(signal: AbortSignal): Promise<void> {
      // Its lag is judged with each look-up.
      const asked = await Promise.allSettled(indexers.map((indexer) => indexer.currentRound(signal)));
      const failed = asked.flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []));
      const defect = failed.find((error) => !isProviderError(error));
      if (defect) throw defect;
      away = failed.map(({ message }) => message);
      if (indexers.length - away.length >= enough) answeredAt = now();
    },

    status(): Status {
      if (now() - answeredAt <= MAX_SILENCE_MS) return OK;
      const since = new Date(answeredAt).toISOString();
      const who = `${enough} of ${indexers.length} indexers must agree, and too few have answered since ${since}`;
      return degradedIf(`witness_missing: ${who} (${away.join("; ")}): older Algorand transactions cannot be attested`);
    },
  };
}
