import { isProviderError } from "../providers/provider.ts";
import { type QuorumRules, quorumOf } from "../providers/quorum.ts";
import { degradedIf, OK, type Status } from "./health.ts";

/** Nodes of which a quorum must agree, and what cannot be sold without them. */
export type Witnesses = {
  /** What they are: "indexers". */
  who: string;
  /** What cannot be sold, as a clause. */
  lost: string;
  /** Of each node: whether it answers at all. @throws ProviderError */
  asks: readonly ((signal: AbortSignal) => Promise<unknown>)[];
};

/** How long too few nodes may answer before it is said, in ms. */
const MAX_SILENCE_MS = 60_000;

/**
 * Watches whether as many nodes answer as must agree. Otherwise calls that need them are refused before they are charged.
 *
 * @param now Unix ms
 */
export function watchWitnesses({ who, lost, asks }: Witnesses, rules: Pick<QuorumRules, "quorum">, now: () => number) {
  const enough = quorumOf(asks.length, rules);
  let answeredAt = now();
  let away: string[] = [];
  return {
    async refresh(signal: AbortSignal): Promise<void> {
      // Their lag is judged with each look-up.
      const asked = await Promise.allSettled(asks.map((ask) => ask(signal)));
      const failed = asked.flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []));
      const defect = failed.find((error) => !isProviderError(error));
      if (defect) throw defect;
      away = failed.map(({ message }) => message);
      if (asks.length - away.length >= enough) answeredAt = now();
    },

    status(): Status {
      if (now() - answeredAt <= MAX_SILENCE_MS) return OK;
      const since = new Date(answeredAt).toISOString();
      const sentence = `${enough} of ${asks.length} ${who} must agree, and too few have answered since ${since}`;
      return degradedIf(`witness_missing: ${sentence} (${away.join("; ")}): ${lost}`);
    },
  };
}
