import type { Rounds } from "../ledger/ledger.ts";
import type { Capacity } from "./capacity.ts";

/** Whether paid calls can be served now; `reasons` says why not. */
export type Readiness = { ready: boolean; reasons: string[] };

/** How long the ledger may be without a new round, in ms: some twenty of MainNet's. */
const STALE_AFTER_MS = 60_000;

export function readiness(rounds: Rounds, capacity: Capacity, now: number): Readiness {
  const reasons: string[] = [];
  if (now - rounds.latestAt() > STALE_AFTER_MS) reasons.push("algorand-mainnet is not reachable");
  const refusal = capacity.refusal();
  if (refusal) reasons.push(refusal.message);
  return { ready: reasons.length === 0, reasons };
}
