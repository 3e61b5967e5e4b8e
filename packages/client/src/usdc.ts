import { withoutTrailing } from "@attestd/proof/text";

const DECIMALS = 6;
const MICRO = 10n ** BigInt(DECIMALS);

/**
 * Reads an amount of USDC.
 *
 * @param text a decimal number with at most six places, e.g. `0.001`
 * @returns micro-USDC
 * @throws RangeError when it is anything else
 */
export function parseUsdc(text: string): bigint {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) throw new RangeError(`${JSON.stringify(text)} is not an amount of USDC, such as 0.001.`);
  return BigInt(match[1] ?? "0") * MICRO + BigInt((match[2] ?? "").padEnd(DECIMALS, "0"));
}

/** Writes micro-USDC as USDC, without trailing zeros: 1000 is `0.001`. */
export function formatUsdc(micro: bigint): string {
  const fraction = withoutTrailing((micro % MICRO).toString().padStart(DECIMALS, "0"), "0");
  const whole = (micro / MICRO).toString();
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
