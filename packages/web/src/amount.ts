import { withoutTrailing } from "@attestd/proof/text";

/**
 * Formats an amount in a token's smallest units.
 * @param decimals of the token
 * @param least decimals that are shown even when zero: 2 for money
 */
export function formatUnits(units: bigint, decimals: number, least = 0): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
  const fraction = withoutTrailing(digits.slice(digits.length - decimals), "0");
  return fraction.length > 0 || least > 0 ? `${whole}.${fraction.padEnd(least, "0")}` : whole;
}

/** micro-USDC as USDC with at least two places: 25000000n is `25.00`. */
export function formatUsdcAmount(micro: bigint): string {
  return formatUnits(micro, 6, 2);
}
