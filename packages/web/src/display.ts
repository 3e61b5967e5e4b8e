import { ALGORAND_MAINNET } from "@attestd/proof";
import { withoutTrailing } from "@attestd/proof/text";

/** Formats an amount in a token's smallest units. @param least decimals that are shown even when zero */
export function formatUnits(units: bigint, decimals: number, least = 0): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
  const fraction = withoutTrailing(digits.slice(digits.length - decimals), "0");
  return fraction.length > 0 || least > 0 ? `${whole}.${fraction.padEnd(least, "0")}` : whole;
}

/** Formats millionths, of USDC or ALGO, with at least two places: 25000000n is `25.00`. */
export function formatMicro(micro: bigint): string {
  return formatUnits(micro, 6, 2);
}

/** A MainNet block with the time in its header, and the average duration of a round since. */
const KNOWN_ROUND = 41_000_000;
const KNOWN_TIME_MS = 1_721_940_662_000;
const ROUND_MS = 2_800;
/** English on every machine, as in certificates. */
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** Estimates the month of a round, such as `about March 2025`; undefined for other ledgers (CAIP-2) than MainNet. */
export function estimatedMonth(round: number, ledger: string): string | undefined {
  const time = KNOWN_TIME_MS + (round - KNOWN_ROUND) * ROUND_MS;
  // Earlier rounds were slower, and for far ones the estimate is wrong.
  if (ledger !== ALGORAND_MAINNET || round < KNOWN_ROUND || time > Date.UTC(2100, 0)) return undefined;
  const date = new Date(time);
  return `about ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** A line of a transaction, for display. */
export type Field = { label: string; value: string };

/** A transaction for people: what its bytes ask for, not whether it succeeded. */
export type Description = {
  /** Such as `USDC transfer`. */
  action: string;
  /** With its unit, for a transfer: `25.00 USDC`. */
  amount?: string;
  /** All members of the transaction. */
  fields: Field[];
};
