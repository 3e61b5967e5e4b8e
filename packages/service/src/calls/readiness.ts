import type { Rounds } from "../ledger/ledger.ts";
import type { Offers } from "../payment/offers.ts";
import type { Capacity } from "./capacity.ts";

/**
 * Whether paid calls can be served now, and the reasons why not. A rail on which nothing can be sold is among the reasons,
 * but makes the service unready only when no other is left: a load balancer must not stop sales on the others.
 */
export type Readiness = { ready: boolean; reasons: string[] };

/** How long the ledger may show no new round, in ms: some twenty of MainNet's rounds. */
const STALE_AFTER_MS = 60_000;

type Parts = {
  rounds: Rounds;
  capacity: Capacity;
  offers: Pick<Offers, "obstacles" | "doubts" | "isOpen">;
  /** What may fail meanwhile: a sentence without its period. */
  watches: readonly { doubt(): string | undefined }[];
  /** Unix ms. */
  now: number;
};

export function readiness({ rounds, capacity, offers, watches, now }: Parts): Readiness {
  const reasons: string[] = [];
  if (now - rounds.latestAt() > STALE_AFTER_MS) reasons.push("algorand-mainnet is not reachable");
  const refusal = capacity.refusal();
  if (refusal) reasons.push(refusal.message);
  const ready = reasons.length === 0 && offers.isOpen;
  reasons.push(...offers.obstacles().map(({ network, obstacle }) => `nothing is sold on ${network}: ${obstacle}`));
  reasons.push(...offers.doubts().map(({ network, doubt }) => `payments may fail on ${network}: ${doubt}`));
  reasons.push(...watches.flatMap((watch) => watch.doubt() ?? []));
  return { ready, reasons };
}
