import { formatUnits } from "@attestd/proof/text";

/**
 * An amount of US dollars in units of 10^-12: then a price in micro-USD times a fee in microAlgos is exact, and so is a
 * request of which a million cost a cent.
 */
export type PicoUsd = bigint;

const DECIMALS = 12;
/** One micro-USD, the smallest unit of USDC. */
export const MICRO: PicoUsd = 10n ** 6n;

/** Reads an amount such as `0.0015`, without a sign. @returns undefined when it is none, or has more than 12 decimals */
export function parseUsd(text: string): PicoUsd | undefined {
  const [, whole, fraction = ""] = /^(\d{1,9})(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(DECIMALS, "0"));
}

/** Every digit of an amount, without a unit: `-0.00151`. */
export function formatUsd(amount: PicoUsd): string {
  return amount < 0n ? `-${formatUnits(-amount, DECIMALS)}` : formatUnits(amount, DECIMALS);
}

/** The quotient of two positive numbers, rounded up: a cost is never stated too low. */
export function dividedUp(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor;
}
