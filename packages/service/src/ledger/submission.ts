import type { Submission } from "./ledger.ts";

/**
 * What can be done about algod's rejection of a transaction (always HTTP 400 with one sentence of go-algorand's).
 *
 * @param message algod's own words
 */
export function classifyRejection(message: string): Submission {
  const reason = message.slice(0, 300);
  if (/transaction already in ledger/.test(message)) return { status: "accepted" };
  if (/overlapping lease/.test(message)) return { status: "leased", reason };

  const dead = /txn dead: round (\d+) outside of (\d+)--(\d+)/.exec(message);
  if (dead) return { status: Number(dead[1]) < Number(dead[2]) ? "retry" : "expired", reason };

  if (/overspend|below min \d+ \(/.test(message)) return { status: "unfunded", reason };
  // The threshold rises with congestion, and the pool empties.
  if (/below threshold|reached capacity/.test(message)) return { status: "retry", reason };
  return { status: "rejected", reason };
}
