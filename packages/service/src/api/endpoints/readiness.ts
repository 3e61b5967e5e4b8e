import type { Capacity } from "../../calls/capacity.ts";
import type { Health } from "../../health/health.ts";
import type { Offers } from "../../payment/offers.ts";

/**
 * Whether paid calls can be served now, and the reasons why not. A rail on which nothing can be sold is among the
 * reasons, but makes the service unready only if no other rail is left: a load balancer must not stop sales on the
 * others.
 */
export type Readiness = { ready: boolean; reasons: string[] };

type Parts = {
  health: Pick<Health, "reasons">;
  capacity: Pick<Capacity, "refusal">;
  offers: Pick<Offers, "unavailable" | "degraded" | "isOpen">;
};

export function readiness({ health, capacity, offers }: Parts): Readiness {
  // `capacity` refuses for the first of these, or for a reason of its own.
  const refusal = capacity.refusal();
  const refusals = new Set([...(refusal ? [refusal.message] : []), ...health.reasons("unavailable")]);
  const reasons = [
    ...refusals,
    ...offers
      .unavailable()
      .map(({ network, unavailableReason }) => `nothing is sold on ${network}: ${unavailableReason}`),
    ...offers.degraded().map(({ network, degradedReason }) => `payments may fail on ${network}: ${degradedReason}`),
    ...health.reasons("degraded"),
  ];
  return { ready: refusals.size === 0 && offers.isOpen, reasons };
}
