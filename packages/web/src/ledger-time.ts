import { ALGORAND_MAINNET } from "@attestd/proof";

/** A MainNet block whose header says when it was made, and how long its rounds have lasted since. */
const KNOWN_ROUND = 41_000_000;
const KNOWN_TIME_MS = 1_721_940_662_000;
const ROUND_MS = 2_800;
/** As certificates have them, the same on every machine. */
const MONTHS = "January February March April May June July August September October November December".split(" ");

/**
 * When a round was, to the month. A bundle names a round and no time; only the ledger knows the time.
 * @param ledger CAIP-2; rounds of other ledgers than MainNet tell nothing
 * @returns such as `about March 2025`
 */
export function estimatedMonth(round: number, ledger: string): string | undefined {
  const time = KNOWN_TIME_MS + (round - KNOWN_ROUND) * ROUND_MS;
  // Rounds were slower before, when there was nothing to attest here; far ahead the estimate would only mislead.
  if (ledger !== ALGORAND_MAINNET || round < KNOWN_ROUND || time > Date.UTC(2100, 0)) return undefined;
  const date = new Date(time);
  return `about ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
