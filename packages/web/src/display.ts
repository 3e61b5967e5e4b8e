import { ALGORAND_MAINNET } from "@attestd/proof";
import { MONTHS } from "@attestd/proof/text";

/** A MainNet round with the time in its header, from which later rounds are estimated by their average duration. */
const KNOWN_ROUND = 41_000_000;
const KNOWN_TIME_MS = 1_721_940_662_000;
const ROUND_MS = 2_800;

/** Estimates the month of a round, such as `about March 2025`; undefined for any ledger (CAIP-2) but MainNet. */
export function estimatedMonth(round: number, ledger: string): string | undefined {
  const time = KNOWN_TIME_MS + (round - KNOWN_ROUND) * ROUND_MS;
  // Earlier rounds were slower, and distant ones cannot be estimated.
  if (ledger !== ALGORAND_MAINNET || round < KNOWN_ROUND || time > Date.UTC(2100, 0)) return undefined;
  const date = new Date(time);
  return `about ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
